import type { Statement } from '../../../platform/database/database.js';

/** Pending deliveries are counted up to this number only. */
const MOST_COUNTED = 10_000;

const COLUMNS = `
  endpoint.id, endpoint.url, endpoint.types, endpoint.description, endpoint.headers_ciphertext AS "headersCiphertext",
  endpoint.previous_secret_until AS "previousSecretUntil",
  endpoint.disabled_at AS "disabledAt", endpoint.disabled_reason AS "disabledReason",
  endpoint.failures, endpoint.failing_since AS "failingSince", endpoint.last_delivered_at AS "lastDeliveredAt",
  (SELECT count(*)::int FROM (
    SELECT FROM webhook_deliveries AS delivery
    WHERE delivery.endpoint_id = endpoint.id AND delivery.status = 'pending' LIMIT ${MOST_COUNTED}
  ) AS counted) AS pending,
  ((SELECT coalesce(max(sequence), 0) FROM domain_events) - endpoint.read_to)::float8 AS unread,
  endpoint.created_at AS "createdAt", endpoint.updated_at AS "updatedAt"`;

export const GET_ENDPOINT: Statement = {
  name: 'webhooks.get-endpoint',
  text: `SELECT ${COLUMNS} FROM webhook_endpoints AS endpoint WHERE endpoint.id = $1`,
};

export const LIST_ENDPOINTS: Statement = {
  name: 'webhooks.list-endpoints',
  text: `
    SELECT ${COLUMNS} FROM webhook_endpoints AS endpoint
    WHERE $1::timestamptz IS NULL OR (endpoint.created_at, endpoint.id) < ($1, $2::uuid)
    ORDER BY endpoint.created_at DESC, endpoint.id DESC LIMIT $3`,
};

/** Serialises the creation of endpoints, so that the count stays correct. */
export const HOLD_CREATION = `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/webhook-endpoints', 0))`;
export const COUNT_ENDPOINTS = 'SELECT count(*)::int AS count FROM webhook_endpoints';

/** A new endpoint starts after the newest event. */
export const INSERT_ENDPOINT: Statement = {
  name: 'webhooks.insert-endpoint',
  text: `
    INSERT INTO webhook_endpoints (id, url, types, description, headers_ciphertext, secret_ciphertext, read_to, created_by)
    SELECT $1, $2, $3, $4, $5, $6, coalesce(max(sequence), 0), $7 FROM domain_events`,
};

/** Null leaves a column unchanged. $6 says whether to set the headers, because null is a valid value for them. */
export const UPDATE_ENDPOINT: Statement = {
  name: 'webhooks.update-endpoint',
  text: `
    UPDATE webhook_endpoints
    SET url = coalesce($2, url), types = coalesce($3, types), description = coalesce($4, description),
      headers_ciphertext = CASE WHEN $6 THEN $5 ELSE headers_ciphertext END, updated_at = clock_timestamp()
    WHERE id = $1`,
};
