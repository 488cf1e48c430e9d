import type { Database, Sql, Statement } from '../../platform/database/database.js';
import type { DomainEvent, EventName } from '../catalogue.rules.js';
import type { EventHandler } from './on-event.js';

// Follows a SELECT of (handler, subject). Adds a job for each row; `unsafe_dedupe` leaves an existing job unchanged, even while it runs.
// Rejected: `replace` and `preserve_run_at`, which reset the attempts of a job that waits for a retry, so a busy session would call a
// failing handler without pause. Both also add a second job while the first runs, which breaks the order within the subject.
// Rejected: a queue per subject, because graphile-worker locks every free queue whenever it looks for a job.
// An event appended while its job finishes is not lost. Both transactions lock the row of the job: either the job sees the event in its
// last check (`RunningJob.finishWhen`), or the job has removed its key and this statement inserts a new job.
export const ADD_DELIVERY_JOB = `
  CROSS JOIN LATERAL graphile_worker.add_job(
    identifier => 'event:' || handler,
    payload => json_build_object('subject', subject),
    job_key => 'event:' || handler || ':' || subject,
    job_key_mode => 'unsafe_dedupe',
    max_attempts => 32767
  ) AS job`;

type Subscription = Pick<EventHandler, 'name' | 'events'>;

/** Upserts the subscriptions: events appended after the commit are delivered to these handlers. */
export async function subscribeHandlers(sql: Sql, handlers: readonly Subscription[]): Promise<void> {
  // In name order, so that replicas that start together cannot deadlock.
  const text = `
    INSERT INTO event_handlers (name, events)
    SELECT name, ARRAY(SELECT jsonb_array_elements_text(events))
    FROM jsonb_to_recordset($1::jsonb) AS handlers (name text, events jsonb)
    ORDER BY name
    ON CONFLICT (name) DO UPDATE SET events = excluded.events, seen_at = clock_timestamp()`;
  await sql.query(text, [JSON.stringify(handlers)]);
}

// Does not write `events`: during a rollout, a replica of the previous release must not revert the new subscriptions.
export async function touchHandlers(sql: Sql, names: readonly string[]): Promise<void> {
  await sql.query('UPDATE event_handlers SET seen_at = clock_timestamp() WHERE name = ANY ($1)', [names]);
}

/** Returns whether the stored subscription of the handler, which a newer release may have changed, includes the event. */
export const isSubscribed = async ({ prisma }: Database, name: string, event: EventName): Promise<boolean> =>
  (await prisma.eventHandler.count({ where: { name, events: { has: event } } })) > 0;

/** Deletes handlers that no process has had for 7 days, and their deliveries. Returns each deleted handler and its number of deliveries. */
export async function retireHandlers(sql: Sql): Promise<{ name: string; pending: number }[]> {
  // 7 days, because a release without the handler may be rolled back within a week. The jobs are removed, because no worker would run them.
  // `jobs` is read for PostgreSQL alone: it executes a CTE that only selects, such as `removed`, only if the statement reads it.
  return sql.query(`
    WITH retired AS (
      DELETE FROM event_handlers WHERE seen_at < clock_timestamp() - interval '7 days' RETURNING name
    ), removed AS (
      SELECT retired.name, job.key, graphile_worker.remove_job(job.key)
      FROM retired JOIN graphile_worker.jobs AS job ON job.task_identifier = 'event:' || retired.name
    )
    SELECT retired.name,
      (SELECT count(*) FROM handler_deliveries WHERE handler = retired.name)::int AS pending,
      (SELECT count(*) FROM removed WHERE removed.name = retired.name)::int AS jobs
    FROM retired`);
}

/** Adds the missing jobs of pending deliveries; returns how many were missing. */
export async function resumeDeliveries(sql: Sql): Promise<number> {
  // Jobs are missing only if an operator has deleted them, or has restored a dump without the schema graphile_worker.
  const text = `
    SELECT job.id
    FROM (
      SELECT DISTINCT handler, subject FROM handler_deliveries AS delivery
      WHERE NOT EXISTS (
        SELECT FROM graphile_worker.jobs AS job
        WHERE job.key = 'event:' || delivery.handler || ':' || delivery.subject
      )
      ORDER BY handler, subject
    ) AS drain
    ${ADD_DELIVERY_JOB}`;
  return (await sql.query(text)).length;
}

const READ_PENDING: Statement = {
  name: 'handlers.read_pending_deliveries',
  text: `
    SELECT delivery.position, event.id, event.name, event.subject, event.sequence, event.time, event.data, event.traceparent
    FROM handler_deliveries AS delivery JOIN domain_events AS event ON event.position = delivery.position
    WHERE delivery.handler = $1 AND delivery.subject = $2
    ORDER BY delivery.position LIMIT 100`,
};

interface PendingDelivery {
  readonly position: string;
  readonly event: DomainEvent;
}

export async function readPending(sql: Sql, handler: string, subject: string): Promise<PendingDelivery[]> {
  const rows = await sql.query<DomainEvent & { position: string }>(READ_PENDING, [handler, subject]);
  return rows.map(({ position, sequence, ...event }) => ({
    position,
    // `sequence` is null until it is assigned; DomainEvent omits it instead.
    event: { ...event, ...(sequence && { sequence }) },
  }));
}

// In SQL, because it runs for every event of every handler (`npm run bench -- events`).
export async function deleteDelivery(sql: Sql, handler: string, position: string): Promise<void> {
  const text = 'DELETE FROM handler_deliveries WHERE handler = $1 AND position = $2';
  await sql.query({ name: 'handlers.delete_delivery', text }, [handler, position]);
}

/** Counts the failed attempt and returns how many there are now. Stores `error`, which may quote the event, only if the user has not been erased meanwhile. */
export async function markFailed(
  sql: Sql,
  handler: string,
  { position, event }: PendingDelivery,
  error: string,
): Promise<number> {
  // Locks the event, so that an earlier erasure is seen, and a later one waits and then clears the text.
  const text = `
    WITH event AS MATERIALIZED (
      SELECT data ->> 'tenantReference' AS reference FROM domain_events WHERE position = $2 FOR SHARE
    )
    UPDATE handler_deliveries
    SET attempts = attempts + 1, last_error = CASE WHEN event.reference IS NOT DISTINCT FROM $4 THEN $3 END
    FROM event
    WHERE handler = $1 AND position = $2
    RETURNING attempts`;
  const tenantReference = 'tenantReference' in event.data ? event.data.tenantReference : null;
  const values = [handler, position, error, tenantReference];
  const [row] = await sql.query<{ attempts: number }>(text, values);
  return row?.attempts ?? 1;
}
