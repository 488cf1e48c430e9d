import type { Database, Sql, Statement } from '../../../platform/database/database.js';
import { addWebhookJobs } from './queue.sql.js';

/** Events per transaction. The transaction locks the endpoint's row for some tens of milliseconds. */
const AT_ONCE = 1_000;

export const BEHIND: Statement = {
  name: 'webhooks.find_endpoints_behind',
  text: `
    SELECT id FROM webhook_endpoints
    WHERE disabled_at IS NULL AND read_to < (SELECT max(sequence) FROM domain_events)`,
};

/** Returns the enabled endpoints that have not read all sequenced events. */
export async function findBehind(sql: Sql): Promise<string[]> {
  return (await sql.query<{ id: string }>(BEHIND)).map(({ id }) => id);
}

// SKIP LOCKED, because another replica, or a request that changes the endpoint, may have locked it. The events may come from a snapshot
// older than the locked row; no event is skipped, because sequences become visible in order. The update of `due_at` changes nothing, but
// locks a subject against `dequeue`.
export const FAN_OUT: Statement = {
  name: 'webhooks.insert_deliveries',
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
      RETURNING endpoint_id, subject
    ), queued AS (
      INSERT INTO webhook_subjects AS queued (endpoint_id, subject)
      SELECT DISTINCT endpoint_id, subject FROM written ORDER BY subject
      ON CONFLICT (endpoint_id, subject) DO UPDATE SET due_at = queued.due_at
    ), moved AS (
      UPDATE webhook_endpoints SET read_to = (SELECT max(sequence) FROM passed)
      WHERE id = $1 AND EXISTS (SELECT FROM passed)
    )
    SELECT EXISTS (SELECT FROM endpoint) AS "hasLock", (SELECT count(*)::int FROM written) AS written`,
};

/** Inserts the deliveries of the next events. `hasLock`: false if the endpoint is disabled or another transaction has locked it. */
export async function fanOut(database: Database, endpointId: string) {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<{ hasLock: boolean; written: number }>(FAN_OUT, [endpointId]);
    if (row!.written > 0) await addWebhookJobs(tx, [endpointId]);
    return row!;
  });
}

/** Queues subjects that an older release did not queue, and adds jobs that a restored backup lacks. Returns the number of added jobs. */
export async function resumeWebhooks(database: Database): Promise<number> {
  await database.query(`
    INSERT INTO webhook_subjects (endpoint_id, subject)
    SELECT DISTINCT endpoint_id, subject FROM webhook_deliveries AS delivery
    WHERE status = 'pending' AND NOT EXISTS (
      SELECT FROM webhook_subjects WHERE endpoint_id = delivery.endpoint_id AND subject = delivery.subject)
    ON CONFLICT DO NOTHING`);
  const withoutJob = await database.query<{ id: string }>(`
    SELECT endpoint.id FROM webhook_endpoints AS endpoint
    WHERE disabled_at IS NULL
      AND EXISTS (SELECT FROM webhook_subjects WHERE endpoint_id = endpoint.id)
      AND NOT EXISTS (SELECT FROM graphile_worker.jobs WHERE key = 'webhook:' || endpoint.id)`);
  const ids = withoutJob.map(({ id }) => id);
  if (ids.length > 0) await database.transaction((tx) => addWebhookJobs(tx, ids));
  return ids.length;
}
