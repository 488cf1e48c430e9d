import { usedUpOf } from '../replicas.rules.js';
import type { Reason } from './reason.js';

/** A dump is exempt for 6 hours: see FIND_OLDEST_TRANSACTION. Our other transactions take seconds. */
const OLD_TRANSACTION_SECONDS = 900;

export const REASONS_OF_DATABASE = {
  disk_full: {
    severity: 'critical',
    title: 'The database has no space left',
    runbook: 'the-disk-is-full',
    waitsFor: 'us',
    alertAfter: '1m',
    // It is known for 15 seconds after a statement failed.
    alertKeeps: '2m',
    // A process that cannot write its sign of life shows the fault in its own status alone.
    find: ({ replicas, hasNoSpace }) => {
      const names = replicas.filter((each) => each.isAlive && each.hasNoSpace).map(({ name }) => name);
      const known = names.length === 0 && hasNoSpace ? ['this process'] : names;
      return known.map((name) => `${name}: the database has no space left`);
    },
  },
  writes_fail: {
    severity: 'critical',
    title: 'A process cannot write to the database',
    runbook: 'the-database-is-blocked',
    waitsFor: 'us',
    alertAfter: '1m',
    find: ({ writesFault }) =>
      writesFault !== null && `the responding process cannot write its sign of life: ${writesFault}`,
  },
  tables_locked: {
    severity: 'critical',
    title: 'Our tables are locked in the database',
    runbook: 'the-database-is-blocked',
    waitsFor: 'us',
    alertAfter: '2m',
    find: ({ tableLocks }) => tableLocks,
  },
  connections_used_up: {
    severity: 'warning',
    title: 'The connections to the database are used up',
    runbook: 'the-database-is-blocked',
    waitsFor: 'us',
    alertAfter: '2m',
    find: ({ replicas }) =>
      usedUpOf(replicas).map(
        ({ name, waitingForConnectionsSeconds, longestStatement }) =>
          `${name}: statements have waited for its DATABASE_POOL_SIZE connections for ${Math.round(waitingForConnectionsSeconds)} s; the longest use of one: ${longestStatement ?? 'unknown'}`,
      ),
  },
  transaction_old: {
    severity: 'warning',
    title: 'An old transaction is open in the database',
    runbook: 'the-database-is-blocked',
    waitsFor: 'us',
    alertAfter: '1m',
    find: ({ oldestTransaction }) =>
      oldestTransaction !== null &&
      oldestTransaction.seconds > OLD_TRANSACTION_SECONDS &&
      `${oldestTransaction.process} has had a transaction open for ${Math.round(oldestTransaction.seconds)} s`,
    began: ({ oldestTransaction }) => [oldestTransaction?.seconds ?? 0],
  },
} satisfies Record<string, Reason>;
