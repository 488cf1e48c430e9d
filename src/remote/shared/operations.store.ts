import { Injectable, Logger } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { Database, prepared, type Transaction } from '../../platform/database/database.js';
import { msFromNow, msUntil } from '../../platform/database/timestamps.js';
import type { OperationClass } from '../outcome.rules.js';
import { BURST_MS } from '../pace/request-budget.js';

/** Notifies replicas of requested waits, and of breakers that open or close. They also poll, since a notification may be lost. */
export const OPERATIONS_CHANNEL = 'pv_onboarding_remote';

/** Executed four times a second by a replica that does not hear of changes, hence a prepared statement. */
const READ_OPERATIONS = prepared('remote.read_operations')`
    SELECT operation, health,
      coalesce(${msUntil('quiet_until')}, 0) AS "quietMs", coalesce(${msUntil('trouble_until')}, 0) AS "troubleMs",
      ${msUntil('open_until')} AS "openMs", failed_trials AS "failedTrials"
    FROM remote_operations`;

/** Returns the condition that calls of an operation are sent and succeed: no trouble is announced, no breaker or wait is known. */
export const isSent = (operation: OperationClass): string => `
    NOT EXISTS (SELECT FROM remote_operations o WHERE o.operation IN ('token', '${operation}')
                  AND (o.health <> 'healthy' OR o.open_until IS NOT NULL OR o.quiet_until > now()))`;

/** Returns since when no trouble of an operation is announced, or null while some is or no call is sent. */
export const healthySince = (operation: OperationClass): string => `
    (SELECT max(o.since) FROM remote_operations o WHERE o.operation IN ('token', '${operation}') AND ${isSent(operation)})`;

/** Returns a statement that changes the operation $1 and notifies the replicas. */
const notifying = (set: string, where = 'true') => `
  WITH changed AS (UPDATE remote_operations SET ${set} WHERE operation = $1 AND ${where} RETURNING operation)
  SELECT pg_notify('${OPERATIONS_CHANNEL}', operation) FROM changed`;

// Never shortens a wait. Waits are at most an hour, so that a bug in one replica cannot block all replicas for longer.
const QUIET_OPERATION = notifying(`
    quiet_until = greatest(quiet_until, ${msFromNow('least($2::float8, 3600000)')})`);

// After a failed trial, the new `open_until` replaces the lease of the trial.
const OPEN_BREAKER = notifying(`
    open_until = ${msFromNow('$2')}, failed_trials = greatest(failed_trials, $3)`);

const CLOSE_BREAKER = notifying('open_until = NULL, failed_trials = 0', 'open_until IS NOT NULL');

// If the shared breaker is closed, only this replica's own breaker is open, so its trial needs no lease.
const CLAIM_TRIAL = notifying(
  `open_until = CASE WHEN open_until IS NOT NULL THEN ${msFromNow('$2')} END`,
  '(open_until IS NULL OR open_until <= clock_timestamp())',
);

// Changes the health only if it differs, so that only one of several replicas that detect the same change announces it.
const WORSEN_OPERATION = `
  UPDATE remote_operations SET health = $2, since = clock_timestamp(), reason = $3, trouble_until = ${msFromNow('$4')}
  WHERE operation = $1 AND health <> $2 AND (health = 'healthy' OR $2 = 'credentials_rejected')
  RETURNING since`;

const CONFIRM_TROUBLE = `
  UPDATE remote_operations SET trouble_until = greatest(trouble_until, ${msFromNow('$2')}), reason = $3
  WHERE operation = $1 AND health = 'degraded'`;

const RECOVER_OPERATION = `
  WITH before AS (
    SELECT operation, since FROM remote_operations
    WHERE operation = $1 AND health = $2 AND (NOT $3::boolean OR coalesce(trouble_until <= clock_timestamp(), true))
    FOR UPDATE
  )
  UPDATE remote_operations AS o SET health = 'healthy', since = clock_timestamp(), reason = NULL, trouble_until = NULL
  FROM before WHERE o.operation = before.operation
  RETURNING before.since, o.since AS "recoveredAt"`;

/** Draws the tokens of the next $1 ms. Executed several times a second while requests wait, hence a prepared statement. */
// The period begins at most a minute ahead, in case the clock was set back.
const DRAW_TOKENS = prepared('remote.draw_tokens')`
    UPDATE request_tokens
       SET drawn_until = least(greatest(drawn_until, ${msFromNow(`-${BURST_MS}`)}), clock_timestamp() + interval '1 minute')
                         + $1::float8 * interval '1 millisecond'
    RETURNING ${msUntil('drawn_until')} - $1::float8 AS "inMs"`;

/** The state of an operation that all replicas share. `quietMs` and `troubleMs` are remaining times; 0 or less means over. */
export interface SharedOperation {
  readonly operation: OperationClass;
  readonly health: 'healthy' | 'degraded' | 'credentials_rejected';
  readonly quietMs: number;
  readonly troubleMs: number;
  /** The time for which no replica may send or try a call. 0 or less: one replica may try a call. Null: the breaker is closed. */
  readonly openMs: number | null;
  readonly failedTrials: number;
}

const logger = new Logger('Remote');

/** Stores the state of each operation for all replicas, and the request tokens that they share. A change and its event commit together. */
@Injectable()
export class OperationsStore {
  constructor(private readonly database: Database) {}

  async readOperations(): Promise<SharedOperation[]> {
    return this.database.queryAside<SharedOperation>(READ_OPERATIONS);
  }

  /** Blocks this operation in all replicas for `quietMs` from now, at most an hour. Repeats the write until then. */
  async quiet(operation: OperationClass, quietMs: number): Promise<void> {
    const until = performance.now() + quietMs;
    const write = () =>
      this.database.query(QUIET_OPERATION, [operation, Math.max(0, until - performance.now())]);
    await this.database.outcomes.repeat(write, quietMs);
  }

  /** Marks the operation as degraded for at least `troubleMs`. If it is degraded already, prolongs this time and shows this reason. */
  async degrade(operation: OperationClass, reason: string, troubleMs: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      const isNew = await worsen(tx, operation, 'degraded', reason, troubleMs);
      if (!isNew) await tx.query(CONFIRM_TROUBLE, [operation, troubleMs, reason]);
    });
  }

  /** Records the recovery, if the operation is degraded. With `once_trouble_is_over`, only if `trouble_until` is past. */
  async recover(operation: OperationClass, when: 'now' | 'once_trouble_is_over'): Promise<void> {
    await this.database.transaction((tx) => recoverFrom(tx, 'degraded', operation, when));
  }

  /** Blocks the calls of this operation in all replicas for `openMs`. Then one replica may try a call. */
  async openBreaker(operation: OperationClass, openMs: number, failedTrials: number): Promise<void> {
    await this.database.query(OPEN_BREAKER, [operation, openMs, failedTrials]);
  }

  async closeBreaker(operation: OperationClass): Promise<void> {
    await this.database.query(CLOSE_BREAKER, [operation]);
  }

  /** Claims the trial of an open breaker for `leaseMs`. Returns whether this replica may try a call. */
  async claimTrial(operation: OperationClass, leaseMs: number): Promise<boolean> {
    return (await this.database.queryAside(CLAIM_TRIAL, [operation, leaseMs])).length > 0;
  }

  /** Draws the request tokens of a period of `ms`. Returns in how many milliseconds the period begins. */
  async drawTokens(ms: number): Promise<number> {
    const [drawn] = await this.database.queryAside<{ inMs: number }>(DRAW_TOKENS, [ms]);
    return drawn!.inMs;
  }
}

/** Records and announces that the service rejects the credentials or fresh tokens, unless this is already recorded. */
export async function rejectCredentials(tx: Transaction, reason: string): Promise<void> {
  await worsen(tx, 'token', 'credentials_rejected', reason, null);
}

/** Records and announces that the service accepts the credentials again. Does nothing if they were not rejected. */
export const acceptCredentials = (tx: Transaction): Promise<void> =>
  recoverFrom(tx, 'credentials_rejected', 'token', 'now');

async function worsen(
  tx: Transaction,
  operation: OperationClass,
  health: 'degraded' | 'credentials_rejected',
  reason: string,
  troubleMs: number | null,
): Promise<boolean> {
  const values = [operation, health, reason, troubleMs];
  const [moved] = await tx.query<{ since: Date }>(WORSEN_OPERATION, values);
  if (moved === undefined) return false;
  const data = { operation, reason, since: moved.since.toISOString() };
  await appendEvents(tx, [{ name: `remote.${health}`, subject: operation, data }]);
  log(tx, health === 'degraded' ? 'warn' : 'error', operation, `is ${health} for ${operation}: ${reason}`);
  return true;
}

async function recoverFrom(
  tx: Transaction,
  from: 'degraded' | 'credentials_rejected',
  operation: OperationClass,
  when: 'now' | 'once_trouble_is_over',
): Promise<void> {
  const values = [operation, from, when === 'once_trouble_is_over'];
  const [moved] = await tx.query<{ since: Date; recoveredAt: Date }>(RECOVER_OPERATION, values);
  if (moved === undefined) return;
  const [since, recoveredAt] = [moved.since.toISOString(), moved.recoveredAt.toISOString()];
  await appendEvents(tx, [
    { name: 'remote.recovered', subject: operation, data: { operation, from, since, recoveredAt } },
  ]);
  log(tx, 'log', operation, `has recovered for ${operation}`);
}

function log(tx: Transaction, level: 'log' | 'warn' | 'error', operation: OperationClass, change: string) {
  tx.afterCommit(() => logger[level]({ message: `the remote service ${change}`, operation }));
}
