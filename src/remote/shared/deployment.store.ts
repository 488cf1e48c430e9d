import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { Database, type Statement, type Transaction } from '../../platform/database/database.js';
import { msFromNow, msUntil } from '../../platform/database/timestamps.js';
import type { Environment } from '../../platform/env/environment.js';
import { REPLICA_NAME } from '../../platform/replica-name.js';
import type { Drift } from '../drift/drift.js';
import type { OperationClass } from '../outcome.rules.js';
import type { PublishedShare } from '../pace/rate-share.rules.js';
import type { ReplicaSigns } from './signs.js';

/** Notified when the remote service tells a replica to wait. Notifications may be lost, so replicas also read periodically. */
export const OPERATIONS_CHANNEL = 'pv_onboarding_remote';

/** Executed four times a second by every replica, hence a prepared statement. */
const READ_OPERATIONS: Statement = {
  name: 'remote.read_operations',
  text: `
    SELECT operation, health,
      coalesce(${msUntil('quiet_until')}, 0) AS "quietMs", coalesce(${msUntil('trouble_until')}, 0) AS "troubleMs",
      ${msUntil('open_until')} AS "openMs", failed_trials AS "failedTrials"
    FROM remote_operations`,
};

// Never shortens a wait. Waits are at most an hour, so that a bug in one replica cannot block all replicas for longer.
const QUIET_OPERATION = `
  WITH quieted AS (
    UPDATE remote_operations SET quiet_until = greatest(quiet_until, ${msFromNow('least($2::float8, 3600000)')})
    WHERE operation = $1 RETURNING operation
  )
  SELECT pg_notify('${OPERATIONS_CHANNEL}', operation) FROM quieted`;

// Conditional on the previous health: if several replicas detect the same change, only one announces it.
const DEGRADE_OPERATION = `
  UPDATE remote_operations SET health = 'degraded', since = clock_timestamp(), reason = $2, trouble_until = ${msFromNow('$3')}
  WHERE operation = $1 AND health = 'healthy'
  RETURNING since`;

const CONFIRM_TROUBLE = `
  UPDATE remote_operations SET trouble_until = greatest(trouble_until, ${msFromNow('$2')}), reason = $3
  WHERE operation = $1 AND health = 'degraded'`;

const REJECT_CREDENTIALS = `
  UPDATE remote_operations SET health = 'credentials_rejected', since = clock_timestamp(), reason = $1, trouble_until = NULL
  WHERE operation = 'token' AND health <> 'credentials_rejected'
  RETURNING since`;

const RECOVER_OPERATION = `
  WITH before AS (
    SELECT operation, since FROM remote_operations
    WHERE operation = $1 AND health = $2 AND (NOT $3::boolean OR coalesce(trouble_until <= clock_timestamp(), true))
    FOR UPDATE
  )
  UPDATE remote_operations AS o SET health = 'healthy', since = clock_timestamp(), reason = NULL, trouble_until = NULL
  FROM before WHERE o.operation = before.operation
  RETURNING before.since, o.since AS "recoveredAt"`;

// One statement, so that it reads the others and writes this one at the same time. A replica that stopped or vanished is shown for an hour.
// `counted` and a null share: replicas of releases that divided the ceiling equally. They count the live ones until all agree.
const BEAT_REPLICA = `
  WITH others AS (
    SELECT coalesce(demand, 1) AS demand, coalesce(share, 1.0::float8 / counted) AS share
    FROM remote_replicas WHERE id <> $1 AND expires_at > clock_timestamp()
  ), gone AS (
    DELETE FROM remote_replicas WHERE id <> $1 AND expires_at < clock_timestamp() - interval '1 hour'
  ), mine AS (
    INSERT INTO remote_replicas AS me
      (id, name, counted, expires_at, role, reads_per_second, paced_since, demand, share, slow_operations, signs, clock_offset_seconds)
    SELECT $1, $2, count(*) + 1, ${msFromNow('$3')}, $4, $5, CASE WHEN $6::boolean THEN clock_timestamp() END, $7::float8, $8::float8, $9::text[], $10::jsonb,
      $11::float8 / 1000 - extract(epoch FROM clock_timestamp())
    FROM others
    ON CONFLICT (id) DO UPDATE SET counted = excluded.counted, expires_at = excluded.expires_at, seen_at = clock_timestamp(),
      reads_per_second = excluded.reads_per_second,
      paced_since = CASE WHEN $6::boolean THEN coalesce(me.paced_since, clock_timestamp()) END,
      demand = excluded.demand, share = excluded.share, slow_operations = excluded.slow_operations, signs = excluded.signs,
      clock_offset_seconds = excluded.clock_offset_seconds
  )
  SELECT * FROM others`;

/** Leaves the row, so that a process that stopped is told apart from one that vanished. */
const LEAVE = `
  UPDATE remote_replicas SET stopped_at = clock_timestamp(), expires_at = clock_timestamp() WHERE id = $1`;

/** Locks the operation, so that its events are in the order of its changes. */
const LOCK_OPERATION = `SELECT 1 FROM remote_operations WHERE operation = $1 FOR UPDATE`;

// Records at most 50 differences per operation, because field names may be data. A foreign id is always recorded: customers may be mixed up.
// xmax is 0 in a row that this statement inserted, and not 0 in a row that it updated.
const RECORD_DRIFT = `
  INSERT INTO remote_drift (operation, kind, field, expected, found)
  SELECT $1, d.kind, d.field, d.expected, d.found
  FROM jsonb_to_recordset($2::jsonb) AS d (kind text, field text, expected text, found text)
  WHERE EXISTS (SELECT FROM remote_drift k WHERE k.operation = $1 AND k.kind = d.kind AND k.field = d.field)
     OR d.kind = 'foreign_id'
     OR (SELECT count(*) FROM remote_drift WHERE operation = $1) < 50
  ON CONFLICT (operation, kind, field) DO UPDATE SET last_seen_at = clock_timestamp()
  RETURNING kind, field, expected, found, first_seen_at AS "observedAt", xmax = 0 AS "isNew"`;

/** The state of an operation that all replicas share. `quietMs` and `troubleMs` are remaining times; 0 or less means over. */
export interface SharedOperation {
  readonly operation: OperationClass;
  readonly health: 'healthy' | 'degraded' | 'credentials_rejected';
  readonly quietMs: number;
  readonly troubleMs: number;
  /** For how long no replica may send calls, or try one. 0 or less: one may try. Null: all may send calls. */
  readonly openMs: number | null;
  readonly failedTrials: number;
}

/** What a replica publishes about itself. `isPaced`: its calls wait for its share of SCS_MAX_REQUESTS_PER_SECOND. */
interface SignOfLife extends PublishedShare {
  readonly role: Environment['ROLE'];
  readonly readsPerSecond: number;
  readonly isPaced: boolean;
  /** The operations most of whose latest calls were slow. */
  readonly slowOperations: readonly OperationClass[];
  /** By this process's clock. */
  readonly now: number;
  readonly signs: ReplicaSigns;
}

const logger = new Logger('Deployment');

/** Stores what all replicas know about the remote service. A change and its event commit together. */
@Injectable()
export class DeploymentStore {
  private readonly replicaId = randomUUID();

  constructor(private readonly database: Database) {}

  async readOperations(): Promise<SharedOperation[]> {
    return this.database.queryAside<SharedOperation>(READ_OPERATIONS);
  }

  /** Blocks this operation in all replicas for `quietMs`, at most an hour. */
  async quiet(operation: OperationClass, quietMs: number): Promise<void> {
    await this.database.query(QUIET_OPERATION, [operation, quietMs]);
  }

  /** Marks the operation as degraded for at least `troubleMs`. If it is degraded already, prolongs this time and shows this reason. */
  async degrade(operation: OperationClass, reason: string, troubleMs: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      const [moved] = await tx.query<{ since: Date }>(DEGRADE_OPERATION, [operation, reason, troubleMs]);
      if (moved === undefined) {
        await tx.query(CONFIRM_TROUBLE, [operation, troubleMs, reason]);
        return;
      }
      const data = { operation, reason, since: moved.since.toISOString() };
      await appendEvents(tx, [{ name: 'remote.degraded', subject: operation, data }]);
      log(tx, 'warn', operation, `is degraded for ${operation}: ${reason}`);
    });
  }

  /** Records the recovery, if the operation is degraded. With `once_trouble_is_over`, only if `trouble_until` is past. */
  async recover(operation: OperationClass, when: 'now' | 'once_trouble_is_over'): Promise<void> {
    await this.database.transaction((tx) => recoverFrom(tx, 'degraded', operation, when));
  }

  /** Marks this replica as alive for `lifeMs`. Returns the demands and shares of the other live replicas. */
  async beat(lifeMs: number, sign: SignOfLife): Promise<PublishedShare[]> {
    const { role, readsPerSecond, isPaced, slowOperations, demand, share, now, signs } = sign;
    return this.database.queryAside<PublishedShare>(BEAT_REPLICA, [
      this.replicaId,
      REPLICA_NAME,
      lifeMs,
      role,
      readsPerSecond,
      isPaced,
      demand,
      share,
      slowOperations,
      JSON.stringify(signs),
      now,
    ]);
  }

  async leave(): Promise<void> {
    await this.database.query(LEAVE, [this.replicaId]);
  }

  /** Records differences. Returns the new differences, each of which is announced once for all replicas. */
  async recordDrift(operation: OperationClass, drifts: readonly Drift[]): Promise<Drift[]> {
    return this.database.transaction(async (tx) => {
      await tx.query(LOCK_OPERATION, [operation]);
      const values = [operation, JSON.stringify(drifts)];
      const recorded = await tx.query<Drift & { observedAt: Date; isNew: boolean }>(RECORD_DRIFT, values);
      const added = recorded.filter(({ isNew }) => isNew);
      const events = added.map(({ isNew: _, observedAt, ...drift }) => {
        const data = { operation, ...drift, observedAt: observedAt.toISOString() };
        return { name: 'remote.contract_drift' as const, subject: operation, data };
      });
      await appendEvents(tx, events);
      return added;
    });
  }
}

/** Records and announces that the service rejects the credentials or fresh tokens, unless this is already recorded. */
export async function rejectCredentials(tx: Transaction, reason: string): Promise<void> {
  const [moved] = await tx.query<{ since: Date }>(REJECT_CREDENTIALS, [reason]);
  if (moved === undefined) return;
  const data = { operation: 'token', reason, since: moved.since.toISOString() } as const;
  await appendEvents(tx, [{ name: 'remote.credentials_rejected', subject: 'token', data }]);
  log(tx, 'error', 'token', `rejects our credentials or fresh tokens: ${reason}`);
}

/** Records and announces that the service accepts the credentials again. Does nothing if they were not rejected. */
export const acceptCredentials = (tx: Transaction): Promise<void> =>
  recoverFrom(tx, 'credentials_rejected', 'token', 'now');

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

function log(
  tx: Transaction,
  level: 'log' | 'warn' | 'error',
  operation: OperationClass,
  change: string,
): void {
  tx.afterCommit(() => logger[level]({ message: `the remote service ${change}`, operation }));
}
