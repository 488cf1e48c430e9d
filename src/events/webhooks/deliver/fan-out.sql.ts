import type { Database, Sql, Statement, Transaction } from '../../../platform/database/database.js';
import { addWebhookJobs } from './jobs.sql.js';

/** Events that an endpoint is moved over at once: some tens of milliseconds, during which nobody can change the endpoint. */
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
  /** Whether there are events whose place in the feed has to be given first. */
  readonly unsequenced: boolean;
  /** Endpoints that have not been given all that have one. */
  readonly behind: readonly string[];
}

export async function readBehind(sql: Sql): Promise<Behind> {
  const [row] = await sql.query<Behind>(BEHIND);
  return row!;
}

// Skipped when somebody else holds the endpoint: another replica, which does the same, or whoever changes it. What is read of the
// events is read after the row was locked or as of before, and never further than to what had its sequence then; either way nothing
// is passed over, since sequences become visible in their order.
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
  /** False when somebody else had the endpoint. */
  readonly held: boolean;
  readonly written: number;
}

/** Gives an endpoint the next events, and a job that delivers them. */
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
 * Adds a job for each endpoint that is owed something and has none; answers how many. There are none unless jobs were deleted by hand,
 * or a dump without the schema graphile_worker was restored.
 */
export async function resumeWebhooks(database: Database): Promise<number> {
  const rows = await database.query<{ id: string }>(WITHOUT_JOB);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await database.transaction((tx) => addWebhookJobs(tx, ids));
  return ids.length;
}
