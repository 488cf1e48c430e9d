import type { Statement, Transaction } from '../../../platform/database/database.js';
import { MOVE_EARLIER } from '../../../platform/jobs/jobs.sql.js';
import type { SequencedEvent } from '../../feed/events.store.js';
import type { SendOutcome } from '../send/outcome.rules.js';
import type { DeliveryPlan, PastAttempts } from './delivery-plan.rules.js';

// webhook_subjects is the queue of an endpoint: one row per subject with pending deliveries, due when the first of them is due. Only the
// job of the endpoint claims subjects. $2: those already claimed. Uses now(), because an index condition cannot use clock_timestamp().
export const CLAIM_SUBJECTS: Statement = {
  name: 'webhooks.claim_subjects',
  text: `
    WITH due AS MATERIALIZED (
      SELECT subject, due_at FROM webhook_subjects
      WHERE endpoint_id = $1 AND due_at <= now() AND subject <> ALL ($2::text[])
      ORDER BY due_at LIMIT $3
    )
    SELECT due.subject, next.id AS "deliveryId", next.position, next.attempts, next.early_attempts AS "earlyAttempts",
      next.next_attempt_at > now() AS "isEarly", event.id, event.name, event.sequence, event.time, event.data,
      event.traceparent
    FROM due
    LEFT JOIN LATERAL (
      SELECT id, position, attempts, early_attempts, next_attempt_at FROM webhook_deliveries
      WHERE endpoint_id = $1 AND status = 'pending' AND subject = due.subject
      ORDER BY position LIMIT 1
    ) AS next ON true
    LEFT JOIN domain_events AS event ON event.position = next.position
    ORDER BY due.due_at`,
};

/** The first pending delivery of a subject, with its event. */
export type DueDelivery = SequencedEvent &
  PastAttempts & {
    readonly deliveryId: string;
    readonly position: string;
  };

/** A due subject. `deliveryId` is null if the subject has no pending delivery. */
export type ClaimedRow = DueDelivery | { readonly subject: string; readonly deliveryId: null };

const LOCK_SUBJECTS: Statement = {
  name: 'webhooks.lock_subjects',
  text: `
    SELECT FROM webhook_subjects WHERE endpoint_id = $1 AND subject = ANY ($2::text[])
    ORDER BY subject FOR UPDATE`,
};

const DEQUEUE: Statement = {
  name: 'webhooks.dequeue_subjects',
  text: `
    DELETE FROM webhook_subjects AS queued
    WHERE endpoint_id = $1 AND subject = ANY ($2::text[])
      AND NOT EXISTS (
        SELECT FROM webhook_deliveries
        WHERE endpoint_id = $1 AND status = 'pending' AND subject = queued.subject)
    RETURNING subject`,
};

/** Deletes the subjects without a pending delivery; returns their number. Locks them first, so that it misses no inserted delivery. */
export async function dequeue(tx: Transaction, endpointId: string, subjects: readonly string[]) {
  if (subjects.length === 0) return 0;
  await tx.query(LOCK_SUBJECTS, [endpointId, subjects]);
  return (await tx.query(DEQUEUE, [endpointId, subjects])).length;
}

/** Selects when the next delivery is due; no row if none is pending or the endpoint is disabled. `inMs` includes the quiet period. */
export const NEXT_DUE = `
  SELECT next.due_at AS at,
    extract(epoch FROM greatest(next.due_at, endpoint.quiet_until) - clock_timestamp())::float8 * 1000 AS "inMs"
  FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
    SELECT due_at FROM webhook_subjects WHERE endpoint_id = endpoint.id ORDER BY due_at LIMIT 1
  ) AS next
  WHERE endpoint.id = $1 AND endpoint.disabled_at IS NULL`;

// Makes the $2 subjects due that wait for the earliest retries (null: all). An event that the receiver refuses must not be sent again at
// every success: it is made due at most as often as it failed on schedule. Skips locked subjects: only a request that makes subjects due
// locks them, so they become due anyway. Waiting could deadlock, because that request locks in another order.
export const MAKE_RETRIES_DUE = `
  WITH waiting AS MATERIALIZED (
    SELECT subject FROM webhook_subjects AS queued
    WHERE endpoint_id = $1 AND due_at > clock_timestamp() AND subject IN (
      SELECT subject FROM webhook_subjects
      WHERE endpoint_id = $1 AND due_at > clock_timestamp() ORDER BY due_at LIMIT $2
    ) AND (
      SELECT greatest(0, attempts - early_attempts) > early_attempts FROM webhook_deliveries
      WHERE endpoint_id = $1 AND status = 'pending' AND subject = queued.subject
      ORDER BY position LIMIT 1)
    FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE webhook_subjects AS queued SET due_at = clock_timestamp()
  FROM waiting WHERE queued.endpoint_id = $1 AND queued.subject = waiting.subject`;

export interface Attempt {
  readonly delivery: DueDelivery;
  readonly outcome: SendOutcome;
  readonly plan: DeliveryPlan;
  /** Where the request was sent. */
  readonly url: string;
  /** When the request was sent, by `performance.now()`. */
  readonly sentAtMs: number;
}

// Locks the events in the same order as an erasure. If the user was erased after the request was sent, the tenantReference differs, and the
// response is not stored. Records a failure only if no other attempt was recorded since the claim, and a
// success only once: the response to an earlier commit may have been lost. Makes the subject due at the time of the
// retry, or at once if there is no retry. Each write of `last_delivered_at` locks the endpoint against the fan-out, so it is written once a
// second at most. `settled` depends on it, so that the endpoint is locked before the subjects, as in the fan-out; otherwise both could
// deadlock.
const SETTLE: Statement = {
  name: 'webhooks.settle_deliveries',
  text: `
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
        last_attempt_at = clock_timestamp() - item."sentMsAgo" * interval '1 millisecond',
        last_status = item."httpStatus", last_error = item.error,
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
    SELECT subject FROM settled`,
};

/**
 * Records attempts, at most one per subject. `settled`: the subjects whose attempt was not recorded before. `isThereMore`: one of the
 * subjects can send its next delivery at once.
 */
export async function settle(tx: Transaction, endpointId: string, attempts: readonly Attempt[]) {
  const items = attempts.map(({ delivery, outcome, plan, sentAtMs }) => ({
    id: delivery.deliveryId,
    position: delivery.position,
    attempts: delivery.attempts,
    isEarly: delivery.isEarly,
    ...plan,
    sentMsAgo: performance.now() - sentAtMs,
    httpStatus: outcome.status,
    error: outcome.kind === 'delivered' ? null : outcome.error,
    answer: outcome.answer,
    tenantReference: 'tenantReference' in delivery.data ? delivery.data.tenantReference : null,
  }));
  const settled = await tx.query<{ subject: string }>(SETTLE, [endpointId, JSON.stringify(items)]);
  const done = attempts.flatMap(({ delivery, plan }) =>
    plan.status === 'pending' ? [] : [delivery.subject],
  );
  const isThereMore = (await dequeue(tx, endpointId, done)) < done.length;
  return { settled: new Set(settled.map(({ subject }) => subject)), isThereMore };
}

export const WEBHOOK_TASK = 'webhook';

// One job per endpoint, so that one process at a time delivers to it. `unsafe_dedupe` leaves a running job unchanged (safe for the
// reason in handlers.sql.ts). Jobs are added in key order, so that concurrent callers cannot deadlock.
const ADD_JOBS: Statement = {
  name: 'webhooks.add_jobs',
  text: `
    SELECT job.key, endpoint.due_at AS "dueAt", job.locked_at IS NULL AND job.run_at > endpoint.due_at AS "isLater"
    FROM (
      SELECT id, greatest(clock_timestamp(), quiet_until, $2::timestamptz) AS due_at
      FROM webhook_endpoints WHERE id = ANY ($1::uuid[]) AND disabled_at IS NULL
      ORDER BY 'webhook:' || id
    ) AS endpoint
    CROSS JOIN LATERAL graphile_worker.add_job(
      identifier => '${WEBHOOK_TASK}',
      payload => json_build_object('endpointId', endpoint.id),
      job_key => 'webhook:' || endpoint.id,
      job_key_mode => 'unsafe_dedupe',
      run_at => endpoint.due_at,
      max_attempts => 32767
    ) AS job`,
};

/** Adds a job for each enabled endpoint, due after its quiet period and not before `notBefore`. Moves a later existing job to this time. */
export async function addWebhookJobs(
  tx: Transaction,
  endpointIds: readonly string[],
  notBefore: Date | null = null,
): Promise<void> {
  const values = [endpointIds, notBefore];
  const jobs = await tx.query<{ key: string; dueAt: Date; isLater: boolean }>(ADD_JOBS, values);
  for (const { key, dueAt, isLater } of jobs) if (isLater) await tx.query(MOVE_EARLIER, [key, dueAt]);
}
