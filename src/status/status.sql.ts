import type { Statement } from '../platform/database/database.js';

/**
 * Measures the backlog by the database's clock. Every part is a range of an index with only the waiting rows, so the cost grows with the
 * backlog, not with the history; only `watched` counts a whole (narrow) table.
 *
 * Overdue sessions are those that the poller's claim would take: due, and not being read now (their batch is gone or never existed).
 */
export const READ_BACKLOG: Statement = {
  name: 'status.backlog',
  text: `
    WITH overdue AS (
      SELECT count(*)::int AS sessions, min(q.due_at) AS since
      FROM session_polls q
      WHERE q.due_at <= now() AND NOT EXISTS (SELECT 1 FROM poll_batches b WHERE b.id = q.batch_id)
    ), reading AS (
      SELECT coalesce(sum(size), 0)::int AS sessions, count(*)::int AS batches,
             count(*) FILTER (WHERE lease_until < now())::int AS abandoned
      FROM poll_batches
    ), unsequenced AS (
      SELECT count(*)::int AS events, min(time) AS since FROM domain_events WHERE sequence IS NULL
    ), deliveries AS (
      SELECT count(*)::int AS waiting, count(*) FILTER (WHERE attempts > 0)::int AS failing, min(created_at) AS since
      FROM handler_deliveries
    ), newest AS (
      SELECT coalesce(max(sequence), 0) AS sequence FROM domain_events
    ), endpoints AS (
      SELECT count(id) FILTER (WHERE disabled_at IS NULL)::int AS enabled,
             count(*) FILTER (WHERE disabled_at IS NULL AND failures > 0)::int AS failing,
             count(*) FILTER (WHERE disabled_reason <> 'requested')::int AS disabled,
             greatest(0, newest.sequence - min(read_to) FILTER (WHERE disabled_at IS NULL))::int AS unread
      FROM newest LEFT JOIN webhook_endpoints ON true GROUP BY newest.sequence
    ), webhooks AS (
      SELECT count(*)::int AS waiting, count(*) FILTER (WHERE delivery.attempts > 0)::int AS failing, min(delivery.created_at) AS since
      FROM webhook_deliveries AS delivery JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id
      WHERE delivery.status = 'pending' AND endpoint.disabled_at IS NULL
    ), broker AS (
      SELECT max(newest.sequence - place.read_to)::int AS behind,
             jsonb_agg(jsonb_build_object(
               'kind', place.name, 'isPublishing', coalesce(place.lease_until > clock_timestamp(), false),
               'publishedAt', place.published_at, 'failingSince', place.failing_since, 'lastError', place.last_error)) -> 0 AS place,
             (SELECT time FROM domain_events WHERE sequence > min(place.read_to) ORDER BY sequence LIMIT 1) AS since
      FROM newest CROSS JOIN broker_positions AS place
    ), open AS (
      SELECT count(*) FILTER (WHERE status = 'pending')::int AS pending,
             min(created_at) FILTER (WHERE status = 'pending') AS "pendingSince",
             count(*) FILTER (WHERE status = 'uncertain')::int AS uncertain,
             min(created_at) FILTER (WHERE status = 'uncertain') AS "uncertainSince"
      FROM registrations WHERE status IN ('pending', 'uncertain')
    )
    SELECT
      (SELECT count(*)::int FROM session_polls) AS watched,
      overdue.sessions AS overdue, ${age('overdue.since')} AS "oldestOverdueSeconds",
      reading.sessions AS reading, reading.batches, reading.abandoned AS "abandonedBatches",
      unsequenced.events AS unsequenced, ${age('unsequenced.since')} AS "oldestUnsequencedSeconds",
      deliveries.waiting AS undelivered, deliveries.failing, ${age('deliveries.since')} AS "oldestUndeliveredSeconds",
      endpoints.enabled AS endpoints, endpoints.failing AS "failingEndpoints", endpoints.disabled AS "disabledEndpoints",
      coalesce(endpoints.unread, 0) AS "unreadByEndpoints",
      webhooks.waiting AS "webhooksUndelivered", webhooks.failing AS "webhooksFailing", ${age('webhooks.since')} AS "oldestWebhookSeconds",
      broker.place AS broker, coalesce(broker.behind, 0) AS unpublished, ${age('broker.since')} AS "oldestUnpublishedSeconds",
      open.pending, ${age('open."pendingSince"')} AS "oldestPendingSeconds",
      open.uncertain, ${age('open."uncertainSince"')} AS "oldestUncertainSeconds"
    FROM overdue, reading, unsequenced, deliveries, endpoints, webhooks, broker, open`,
};

/** Reads what all replicas together know about the remote service. */
export const READ_SHARED_REMOTE: Statement = {
  name: 'status.remote',
  text: `
    SELECT coalesce((SELECT jsonb_agg(jsonb_build_object('operation', operation, 'health', health, 'since', since, 'reason', reason)
                                      ORDER BY since)
                       FROM remote_operations WHERE health <> 'healthy'), '[]') AS degraded,
           (SELECT count(*)::int FROM remote_drift) AS "contractDrift"`,
};

function age(since: string): string {
  return `coalesce(greatest(0, round(extract(epoch FROM clock_timestamp() - ${since}), 3)), 0)::float8`;
}
