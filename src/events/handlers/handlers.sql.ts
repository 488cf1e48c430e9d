import type { Database, Sql, Statement, Transaction } from '../../platform/database/database.js';
import type { DomainEvent } from '../domain-event.js';

/**
 * Adds a job for each preceding row (handler, subject), unless one exists.
 *
 * `unsafe_dedupe` leaves an existing job unchanged, also one that is running or waiting for a retry. The other modes do not fit.
 * `replace` and `preserve_run_at` both reset the attempts and the wait of a job that is being retried, so a busy session would call a
 * failing handler without pause. Both also detach a running job from its key and add a second one, which runs concurrently and breaks
 * the order within the subject. The unsafe part is an event appended while the job is about to finish. The job makes it safe: it
 * gives up its key in a transaction that then checks for work once more (`finishWhen` in platform/jobs/running-job.ts). ON CONFLICT
 * locks the row of the job until the appending transaction ends, so either that check sees the event, or the insert finds no key.
 *
 * Rejected: a queue per subject. It would also keep jobs apart, but graphile-worker locks every free queue whenever it looks for a
 * job.
 */
export const ADD_DELIVERY_JOB = `
  CROSS JOIN LATERAL graphile_worker.add_job(
    identifier => 'event:' || handler,
    payload => json_build_object('subject', subject),
    job_key => 'event:' || handler || ':' || subject,
    job_key_mode => 'unsafe_dedupe',
    max_attempts => 32767
  ) AS job`;

export interface HandlerRow {
  readonly name: string;
  readonly events: readonly string[];
}

// In name order, so that replicas starting together cannot deadlock.
const SUBSCRIBE = `
  INSERT INTO event_handlers (name, events)
  SELECT name, ARRAY(SELECT jsonb_array_elements_text(events))
  FROM jsonb_to_recordset($1::jsonb) AS handlers (name text, events jsonb)
  ORDER BY name
  ON CONFLICT (name) DO UPDATE SET events = excluded.events, seen_at = clock_timestamp()`;

/** Upserts the subscriptions. Every event appended after the commit is delivered to the handlers that subscribe to it. */
export async function subscribeHandlers(sql: Sql, handlers: readonly HandlerRow[]): Promise<void> {
  await sql.query(SUBSCRIBE, [JSON.stringify(handlers)]);
}

// Does not write `events`: during a rollout, a replica of the previous release must not revert the new subscriptions.
const SEEN = 'UPDATE event_handlers SET seen_at = clock_timestamp() WHERE name = ANY ($1)';

export async function touchHandlers(sql: Sql, names: readonly string[]): Promise<void> {
  await sql.query(SEEN, [names]);
}

// 7 days, because a release that lacks a handler may be rolled back within a week. Dropping its deliveries is the worse failure;
// keeping them only costs rows. Its jobs are removed too, because no worker runs jobs of a handler that it does not have.
const RETIRE = `
  WITH retired AS (
    DELETE FROM event_handlers WHERE seen_at < clock_timestamp() - interval '7 days' RETURNING name
  ), removed AS (
    SELECT retired.name, job.key, graphile_worker.remove_job(job.key)
    FROM retired JOIN graphile_worker.jobs AS job ON job.task_identifier = 'event:' || retired.name
  )
  SELECT retired.name,
    (SELECT count(*) FROM handler_deliveries WHERE handler = retired.name)::int AS owed,
    (SELECT count(*) FROM removed WHERE removed.name = retired.name)::int AS jobs
  FROM retired`;

export interface RetiredHandler {
  readonly name: string;
  /** How many of its deliveries were pending; they are dropped. */
  readonly owed: number;
}

export async function retireHandlers(sql: Sql): Promise<RetiredHandler[]> {
  return sql.query<RetiredHandler>(RETIRE);
}

// A delivery and its job are inserted and deleted together. So this finds something only if jobs were deleted by hand, or if a dump
// without the schema graphile_worker was restored.
const RESUME = `
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

/** Adds the missing jobs of pending deliveries; returns how many were missing. */
export async function resumeDeliveries(sql: Sql): Promise<number> {
  return (await sql.query(RESUME)).length;
}

const OWED: Statement = {
  name: 'events.owed',
  text: `
    SELECT delivery.position, event.id, event.name, event.subject, event.sequence, event.time, event.data
    FROM handler_deliveries AS delivery JOIN domain_events AS event ON event.position = delivery.position
    WHERE delivery.handler = $1 AND delivery.subject = $2
    ORDER BY delivery.position LIMIT 100`,
};

interface OwedRow extends Omit<DomainEvent, 'sequence'> {
  readonly position: string;
  readonly sequence: string | null;
}

export interface Owed {
  readonly position: string;
  readonly event: DomainEvent;
}

/** Returns the next pending events of the handler and subject, in order; at most 100. */
export async function readOwed(sql: Sql, handler: string, subject: string): Promise<Owed[]> {
  const rows = await sql.query<OwedRow>(OWED, [handler, subject]);
  return rows.map(({ position, sequence, ...event }) => ({
    position,
    event: { ...event, ...(sequence === null ? {} : { sequence }) } as DomainEvent,
  }));
}

const IS_OWED: Statement = {
  name: 'events.is-owed',
  text: 'SELECT FROM handler_deliveries WHERE handler = $1 AND subject = $2 LIMIT 1',
};

export async function isNothingOwed(tx: Transaction, handler: string, subject: string): Promise<boolean> {
  return (await tx.query(IS_OWED, [handler, subject])).length === 0;
}

const DELIVERED: Statement = {
  name: 'events.delivered',
  text: 'DELETE FROM handler_deliveries WHERE handler = $1 AND position = $2',
};

export async function markDelivered(sql: Sql, handler: string, position: string): Promise<void> {
  await sql.query(DELIVERED, [handler, position]);
}

const HOLD_EVENT: Statement = {
  name: 'events.hold',
  text: 'SELECT FROM domain_events WHERE position = $1 FOR SHARE',
};

const FAILED: Statement = {
  name: 'events.failed',
  text: `
    UPDATE handler_deliveries AS delivery
    SET attempts = attempts + 1, last_error = CASE WHEN event.data ->> 'tenantReference' IS NOT DISTINCT FROM $4 THEN $3 END
    FROM domain_events AS event
    WHERE delivery.handler = $1 AND delivery.position = $2 AND event.position = $2`,
};

/**
 * Counts the failed attempt. Stores `error` only if the event is unchanged, because the text may quote the event and the user may
 * have been erased meanwhile. Locks the event first, so either the erasure is visible here, or it empties what is written here.
 */
export async function markFailed(
  database: Database,
  handler: string,
  { position, event }: Owed,
  error: string,
): Promise<void> {
  const tenantReference = 'tenantReference' in event.data ? event.data.tenantReference : null;
  await database.transaction(async (tx) => {
    await tx.query(HOLD_EVENT, [position]);
    await tx.query(FAILED, [handler, position, error, tenantReference]);
  });
}

const LISTENS = 'SELECT FROM event_handlers WHERE name = $1 AND $2 = ANY (events)';

/** Returns whether any release of the handler subscribes to the event; the release of this process may be older. */
export async function isSubscribed(sql: Sql, handler: string, event: string): Promise<boolean> {
  return (await sql.query(LISTENS, [handler, event])).length === 1;
}
