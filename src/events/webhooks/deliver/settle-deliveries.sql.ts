import type { Sql, Statement } from '../../../platform/database/database.js';

/** The result of an attempt, to be written. */
export interface Settlement {
  readonly id: string;
  readonly position: string;
  readonly subject: string;
  /** Attempts before this one. If the row has more, another process has sent it since, and this result is stale. */
  readonly attempts: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  /** Null unless pending. */
  readonly waitMs: number | null;
  /** Milliseconds between sending and this write. */
  readonly sentMsAgo: number;
  readonly httpStatus: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  /** As sent. If it no longer matches, an erasure has emptied the event since, and the response may quote erased data. */
  readonly tenantReference: string | null;
}

// Locks the events first, in the same order as an erasure. So either the erasure is visible here, or it empties what is written here.
// A successful delivery is always recorded; a failure only if no other attempt has been recorded since.
const SETTLE: Statement = {
  name: 'webhooks.settle',
  text: `
    WITH item AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset($2::jsonb) AS item (
        id uuid, position bigint, subject text, attempts int, status text, "waitMs" float8, "sentMsAgo" float8,
        "httpStatus" int, error text, answer text, "tenantReference" text)
    ), event AS MATERIALIZED (
      SELECT position, data ->> 'tenantReference' AS reference FROM domain_events
      WHERE position IN (SELECT position FROM item) ORDER BY position FOR SHARE
    ), settled AS (
      UPDATE webhook_deliveries AS delivery
      SET status = item.status, attempts = delivery.attempts + 1,
        next_attempt_at = CASE WHEN item.status = 'pending' THEN clock_timestamp() + item."waitMs" * interval '1 millisecond' END,
        last_attempt_at = clock_timestamp() - item."sentMsAgo" * interval '1 millisecond',
        last_status = item."httpStatus", last_error = item.error,
        last_answer = CASE WHEN event.reference IS NOT DISTINCT FROM item."tenantReference" THEN item.answer END
      FROM item JOIN event ON event.position = item.position
      WHERE delivery.id = item.id
        AND (item.status = 'delivered' OR (delivery.status = 'pending' AND delivery.attempts = item.attempts))
      RETURNING delivery.id
    ), aside AS (
      SELECT next.id
      FROM (SELECT subject, max(position) AS position FROM item WHERE status <> 'pending' GROUP BY subject) AS last
      CROSS JOIN LATERAL (
        SELECT id, next_attempt_at FROM webhook_deliveries
        WHERE endpoint_id = $1 AND status = 'pending' AND subject = last.subject AND position > last.position
        ORDER BY position LIMIT 1
      ) AS next
      WHERE next.next_attempt_at > clock_timestamp() AND next.id NOT IN (SELECT id FROM item)
    ), freed AS (
      UPDATE webhook_deliveries AS delivery SET next_attempt_at = clock_timestamp()
      FROM aside WHERE delivery.id = aside.id AND delivery.attempts = 0
    ), seen AS (
      UPDATE webhook_endpoints SET last_delivered_at = clock_timestamp()
      WHERE id = $1 AND $3
    )
    SELECT count(*)::int AS settled FROM settled`,
};

/** Writes the results. If `isDelivered`, also updates `last_delivered_at` of the endpoint. */
export async function settle(
  sql: Sql,
  endpointId: string,
  settlements: readonly Settlement[],
  isDelivered: boolean,
): Promise<void> {
  await sql.query(SETTLE, [endpointId, JSON.stringify(settlements), isDelivered]);
}
