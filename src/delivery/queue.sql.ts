import { prepared, type Sql, type Transaction } from '../platform/database/database.js';
import { EVENTS_CHANNEL } from '../events/sequence.sql.js';
import type { Attempt } from './outlet.js';

export const LOCK_SUBJECTS = prepared('deliveries.lock_subjects')`
    SELECT FROM webhook_subjects WHERE endpoint_id = $1 AND subject = ANY ($2::text[])
    ORDER BY subject FOR UPDATE`;

const DEQUEUE = prepared('deliveries.dequeue_subjects')`
    DELETE FROM webhook_subjects AS queued
    WHERE endpoint_id = $1 AND subject = ANY ($2::text[])
      AND NOT EXISTS (
        SELECT FROM webhook_deliveries
        WHERE endpoint_id = $1 AND status = 'pending' AND subject = queued.subject)
    RETURNING subject`;

/** Deletes the subjects without a pending delivery. Returns their number. Locks the subjects first, to miss no concurrent insert. */
export async function dequeue(tx: Transaction, endpointId: string, subjects: readonly string[]) {
  if (subjects.length === 0) return 0;
  await tx.query(LOCK_SUBJECTS, [endpointId, subjects]);
  return (await tx.query(DEQUEUE, [endpointId, subjects])).length;
}

/** Selects in how many ms the next delivery may be sent. Returns no row if none is pending or the endpoint is disabled. */
export const NEXT_DUE = `
  SELECT
    extract(epoch FROM greatest(next.due_at, endpoint.quiet_until) - clock_timestamp())::float8 * 1000 AS "inMs"
  FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
    SELECT due_at FROM webhook_subjects WHERE endpoint_id = endpoint.id ORDER BY due_at LIMIT 1
  ) AS next
  WHERE endpoint.id = $1 AND endpoint.disabled_at IS NULL`;

// Makes the $2 subjects with the earliest retries due, or all of them if $2 is null. Excludes a subject if its first delivery was retried
// early as often as on schedule: an event that the receiver refuses must not be sent again whenever another event succeeds. Skips locked
// subjects, because waiting could deadlock. Only a request that makes subjects due locks them, so they become due anyway.
export const MAKE_RETRIES_DUE = `
  WITH waiting AS MATERIALIZED (
    SELECT subject FROM webhook_subjects AS queued
    WHERE endpoint_id = $1 AND due_at > clock_timestamp() AND subject IN (
      SELECT subject FROM webhook_subjects
      WHERE endpoint_id = $1 AND due_at > clock_timestamp() ORDER BY due_at LIMIT $2
    ) AND (
      SELECT attempts - early_attempts > early_attempts FROM webhook_deliveries
      WHERE endpoint_id = $1 AND status = 'pending' AND subject = queued.subject
      ORDER BY position LIMIT 1)
    FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE webhook_subjects AS queued SET due_at = clock_timestamp()
  FROM waiting WHERE queued.endpoint_id = $1 AND queued.subject = waiting.subject`;

/** The most previous attempts of a delivery: more than its schedule has. A handler is retried for ever, so the oldest are dropped. */
const MOST_PREVIOUS = 20;

// Records a failure only if no other attempt was recorded since the claim. Records a success only once, even if the statement is repeated
// because the response to its COMMIT was lost. Locks the events in the same order as an erasure. If the user was erased after the request
// was sent, the tenantReference differs, and the response and the error are not stored. Makes the subject due at the time of the retry, or
// at once if no retry follows. Writes `last_delivered_at` at most once a second, because each write locks the endpoint. `settled` depends
// on `seen` to lock the endpoint before the subjects, like TAKE. With different orders, the two statements could deadlock. The last attempt
// so far moves to `previous_attempts`, which stays null if the first attempt succeeds.
export const SETTLE = prepared('deliveries.settle_deliveries')`
    WITH item AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset($2::jsonb) AS item (
        id uuid, position bigint, attempts int, status text, "isEarly" boolean, "waitMs" float8, "sentMsAgo" float8,
        "httpStatus" int, error text, answer text, "tenantReference" text)
    ), event AS MATERIALIZED (
      SELECT position, data ->> 'tenantReference' AS reference FROM domain_events
      WHERE position IN (SELECT position FROM item) ORDER BY position FOR SHARE
    ), seen AS (
      UPDATE webhook_endpoints SET last_delivered_at = clock_timestamp()
      WHERE id = $1 AND EXISTS (SELECT FROM item WHERE status = 'delivered')
        AND (last_delivered_at IS NULL OR last_delivered_at < clock_timestamp() - interval '1 second')
      RETURNING 1
    ), settled AS (
      UPDATE webhook_deliveries AS delivery
      SET status = item.status, attempts = delivery.attempts + 1,
        early_attempts = delivery.early_attempts + item."isEarly"::int,
        next_attempt_at = CASE WHEN item.status = 'pending'
          THEN coalesce(clock_timestamp() + item."waitMs" * interval '1 millisecond', delivery.next_attempt_at) END,
        previous_attempts = CASE WHEN delivery.last_attempt_at IS NOT NULL THEN (jsonb_build_array(jsonb_build_object(
          'attemptedAt', delivery.last_attempt_at, 'status', delivery.last_status,
          'error', delivery.last_error, 'answer', delivery.last_answer
        )) || coalesce(delivery.previous_attempts, '[]')) - ${MOST_PREVIOUS} END,
        last_attempt_at = clock_timestamp() - item."sentMsAgo" * interval '1 millisecond',
        last_status = item."httpStatus",
        last_error = CASE WHEN event.reference IS NOT DISTINCT FROM item."tenantReference" THEN item.error END,
        last_answer = CASE WHEN event.reference IS NOT DISTINCT FROM item."tenantReference" THEN item.answer END
      FROM item JOIN event ON event.position = item.position
      WHERE delivery.id = item.id AND (SELECT count(*) FROM seen) >= 0
        AND CASE WHEN item.status = 'delivered'
          THEN NOT (delivery.status = 'delivered' AND delivery.attempts = item.attempts + 1)
          ELSE delivery.status = 'pending' AND delivery.attempts = item.attempts END
      RETURNING delivery.subject, delivery.next_attempt_at
    ), queued AS (
      UPDATE webhook_subjects AS queued SET due_at = coalesce(settled.next_attempt_at, clock_timestamp())
      FROM settled WHERE queued.endpoint_id = $1 AND queued.subject = settled.subject
    )
    SELECT subject FROM settled`;

// The wait grows with the age of the delivery, because no number of attempts can be stored: from 5 minutes to 6 hours.
export const POSTPONE = prepared('deliveries.postpone')`
    UPDATE webhook_subjects AS queued
    SET due_at = clock_timestamp()
      + least(greatest((clock_timestamp() - delivery.created_at) / 2, interval '5 minutes'), interval '6 hours')
    FROM webhook_deliveries AS delivery
    WHERE queued.endpoint_id = $1 AND queued.subject = $2 AND delivery.id = $3
    RETURNING queued.subject`;

/** Records attempts, at most one per subject. Returns whether the next delivery of one of the subjects is due. */
export async function settle(
  tx: Transaction,
  endpointId: string,
  attempts: readonly Attempt[],
): Promise<boolean> {
  const items = attempts.map(({ delivery, outcome, plan, sentAtMs }) => ({
    id: delivery.deliveryId,
    position: delivery.position,
    attempts: delivery.attempts,
    isEarly: delivery.isEarly,
    ...plan,
    sentMsAgo: performance.now() - sentAtMs,
    httpStatus: outcome.status,
    error: outcome.error,
    answer: outcome.answer,
    tenantReference: 'tenantReference' in delivery.data ? delivery.data.tenantReference : null,
  }));
  await tx.query(SETTLE, [endpointId, JSON.stringify(items)]);
  const done = attempts.flatMap(({ delivery, plan }) =>
    plan.status === 'pending' ? [] : [delivery.subject],
  );
  return (await dequeue(tx, endpointId, done)) < done.length;
}

const MAKE_DUE = `
  WITH due AS (
    UPDATE webhook_endpoints SET due_at = clock_timestamp() WHERE id = $1 AND disabled_at IS NULL RETURNING id
  )
  SELECT pg_notify('${EVENTS_CHANNEL}', '') FROM due`;

/** Makes the endpoint due and wakes the workers. Call it before the transaction makes subjects due, because workers lock in this order. */
export async function makeDue(sql: Sql, endpointId: string): Promise<void> {
  await sql.query(MAKE_DUE, [endpointId]);
}
