import type { Database, Sql, Statement, Transaction } from '../../../platform/database/database.js';
import { addWebhookJobs } from './jobs.sql.js';

/** Events processed per endpoint and transaction. The endpoint row is locked for some tens of milliseconds meanwhile. */
const AT_ONCE = 1_000;

export const BEHIND: Statement = {
  name: 'webhooks.behind',
  text: `
    SELECT (EXISTS (SELECT FROM webhook_endpoints WHERE disabled_at IS NULL)
        AND EXISTS (SELECT FROM domain_events WHERE sequence IS NULL)) AS unsequenced,
      ARRAY (
        SELECT id FROM webhook_endpoints
        WHERE disabled_at IS NULL AND read_to < (SELECT max(sequence) FROM domain_events)
      ) AS behind`,
};

export interface Behind {
  /** Whether events must be sequenced first. False if no endpoint is enabled. */
  readonly unsequenced: boolean;
  /** Enabled endpoints with sequenced events after their `read_to`. */
  readonly behind: readonly string[];
}

export async function readBehind(sql: Sql): Promise<Behind> {
  const [row] = await sql.query<Behind>(BEHIND);
  return row!;
}

// SKIP LOCKED: the endpoint is locked by another replica that does the same, or by a change of the endpoint. The events come from the
// statement's snapshot, which may be older than the locked row. No event is skipped either way, because sequences become visible in
// order.
export const FAN_OUT: Statement = {
  name: 'webhooks.fan-out',
  text: `
    WITH endpoint AS MATERIALIZED (
      SELECT id, types, read_to FROM webhook_endpoints
      WHERE id = $1 AND disabled_at IS NULL FOR NO KEY UPDATE SKIP LOCKED
    ), passed AS MATERIALIZED (
      SELECT event.position, event.sequence, event.subject, event.name
      FROM endpoint CROSS JOIN LATERAL (
        SELECT position, sequence, subject, name FROM domain_events
        WHERE sequence > endpoint.read_to ORDER BY sequence LIMIT ${AT_ONCE}
      ) AS event
    ), written AS (
      INSERT INTO webhook_deliveries (endpoint_id, position, subject)
      SELECT endpoint.id, passed.position, passed.subject
      FROM passed CROSS JOIN endpoint
      WHERE cardinality(endpoint.types) = 0 OR passed.name = ANY (endpoint.types)
      ORDER BY passed.position
      ON CONFLICT (endpoint_id, position) DO NOTHING
      RETURNING id
    ), moved AS (
      UPDATE webhook_endpoints SET read_to = (SELECT max(sequence) FROM passed)
      WHERE id = $1 AND EXISTS (SELECT FROM passed)
    )
    SELECT EXISTS (SELECT FROM endpoint) AS held, (SELECT count(*)::int FROM written) AS written`,
};

export interface FannedOut {
  /** False if another transaction had locked the endpoint, or it is disabled or deleted. */
  readonly held: boolean;
  readonly written: number;
}

/** Inserts the endpoint's deliveries for the next events, and adds its delivery job. */
export async function fanOut(database: Database, endpointId: string): Promise<FannedOut> {
  return database.transaction(async (tx: Transaction) => {
    const [row] = await tx.query<FannedOut>(FAN_OUT, [endpointId]);
    if (row!.written > 0) await addWebhookJobs(tx, [endpointId]);
    return row!;
  });
}

const WITHOUT_JOB = `
  SELECT endpoint.id FROM webhook_endpoints AS endpoint
  WHERE disabled_at IS NULL
    AND EXISTS (SELECT FROM webhook_deliveries WHERE endpoint_id = endpoint.id AND status = 'pending')
    AND NOT EXISTS (SELECT FROM graphile_worker.jobs WHERE key = 'webhook:' || endpoint.id)`;

/**
 * Adds the missing job to each endpoint with pending deliveries; returns how many were missing. Jobs are missing only if they were
 * deleted by hand, or if a dump without the schema graphile_worker was restored.
 */
export async function resumeWebhooks(database: Database): Promise<number> {
  const rows = await database.query<{ id: string }>(WITHOUT_JOB);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await database.transaction((tx) => addWebhookJobs(tx, ids));
  return ids.length;
}
