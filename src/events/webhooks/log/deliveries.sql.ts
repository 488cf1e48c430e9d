import type { Statement } from '../../../platform/database/database.js';

const COLUMNS = `
  delivery.id, delivery.endpoint_id AS "endpointId", event.id AS "eventId", event.name, event.sequence, delivery.position,
  delivery.subject, delivery.status, delivery.attempts, delivery.next_attempt_at AS "nextAttemptAt",
  delivery.last_attempt_at AS "lastAttemptAt", delivery.last_status AS "lastStatus", delivery.last_error AS "lastError",
  delivery.last_answer AS "lastAnswer", delivery.created_at AS "createdAt"`;

const FILTER = `
  ($1::text IS NULL OR delivery.status = $1)
  AND ($2::uuid IS NULL OR delivery.position = (SELECT position FROM domain_events WHERE id = $2))
  AND ($3::timestamptz IS NULL OR delivery.created_at >= $3)
  AND ($4::timestamptz IS NULL OR delivery.created_at <= $4
    AND (delivery.created_at, delivery.position, delivery.endpoint_id) < ($4, $5::bigint, $6::uuid))`;

const NEWEST_FIRST =
  'ORDER BY delivery.created_at DESC, delivery.position DESC, delivery.endpoint_id DESC LIMIT $7';

// Both list statements are unnamed, so PostgreSQL plans them for the actual values: an absent filter costs nothing, and `failed` uses
// its partial index.

/**
 * Reads endpoint by endpoint, of which there are few, so that the index by endpoint and time finds the newest deliveries. $8 is one
 * endpoint or null.
 */
export const LIST_DELIVERIES = `
  SELECT ${COLUMNS}
  FROM webhook_endpoints AS endpoint
  CROSS JOIN LATERAL (
    SELECT * FROM webhook_deliveries AS delivery
    WHERE delivery.endpoint_id = endpoint.id AND ${FILTER}
    ${NEWEST_FIRST}
  ) AS delivery
  JOIN domain_events AS event ON event.position = delivery.position
  WHERE $8::uuid IS NULL OR endpoint.id = $8
  ${NEWEST_FIRST}`;

/** Reads all deliveries of the subject, which has few events. */
export const LIST_DELIVERIES_OF_SUBJECT = `
  SELECT ${COLUMNS}
  FROM webhook_deliveries AS delivery JOIN domain_events AS event ON event.position = delivery.position
  WHERE delivery.subject = $9 AND ($8::uuid IS NULL OR delivery.endpoint_id = $8) AND ${FILTER}
  ${NEWEST_FIRST}`;

export const GET_DELIVERY: Statement = {
  name: 'webhooks.get-delivery',
  text: `
    SELECT ${COLUMNS}
    FROM webhook_deliveries AS delivery JOIN domain_events AS event ON event.position = delivery.position
    WHERE delivery.id = $1`,
};
