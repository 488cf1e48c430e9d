import type { Statement } from '../../platform/database/database.js';

/** Counted no further: with a million of them waiting, nobody needs to know how many more. */
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

/** Secrets that were rotated, only while they sign. */
const PREVIOUS_SECRETS = `CASE WHEN previous_secret_until > clock_timestamp() THEN previous_secret_ciphertext END AS "previousSecretCiphertext"`;

/** What is needed to send. */
export const GET_DESTINATION: Statement = {
  name: 'webhooks.get-destination',
  text: `
    SELECT url, headers_ciphertext AS "headersCiphertext", secret_ciphertext AS "secretCiphertext",
      ${PREVIOUS_SECRETS}
    FROM webhook_endpoints WHERE id = $1`,
};

/** Whoever makes endpoints does so one after the other, so that their number is what it is counted to be. */
export const HOLD_CREATION = `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/webhook-endpoints', 0))`;
export const COUNT_ENDPOINTS = 'SELECT count(*)::int AS count FROM webhook_endpoints';

/** It begins behind the newest event there is. */
export const INSERT_ENDPOINT: Statement = {
  name: 'webhooks.insert-endpoint',
  text: `
    INSERT INTO webhook_endpoints (id, url, types, description, headers_ciphertext, secret_ciphertext, read_to, created_by)
    SELECT $1, $2, $3, $4, $5, $6, coalesce(max(sequence), 0), $7 FROM domain_events`,
};

export interface HeldEndpoint {
  readonly url: string;
  readonly types: readonly string[];
  readonly secretCiphertext: Buffer;
  readonly previousSecretCiphertext: Buffer | null;
  readonly isDisabled: boolean;
}

/** Locks it against every other change, and against the fan-out. */
export const HOLD_ENDPOINT: Statement = {
  name: 'webhooks.hold-endpoint',
  text: `
    SELECT url, types, secret_ciphertext AS "secretCiphertext", disabled_at IS NOT NULL AS "isDisabled",
      ${PREVIOUS_SECRETS}
    FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE`,
};

/** Null leaves a column as it is; $6 says whether the headers change, since null is one of their values. */
export const UPDATE_ENDPOINT: Statement = {
  name: 'webhooks.update-endpoint',
  text: `
    UPDATE webhook_endpoints
    SET url = coalesce($2, url), types = coalesce($3, types), description = coalesce($4, description),
      headers_ciphertext = CASE WHEN $6 THEN $5 ELSE headers_ciphertext END, updated_at = clock_timestamp()
    WHERE id = $1`,
};

/** What it did before it was repaired says nothing of what it does now. */
export const FORGET_FAILURES: Statement = {
  name: 'webhooks.forget-failures',
  text: `UPDATE webhook_endpoints SET failures = 0, failing_since = NULL, quiet_until = NULL WHERE id = $1`,
};

export const DISABLE_ENDPOINT: Statement = {
  name: 'webhooks.disable-endpoint',
  text: `
    UPDATE webhook_endpoints
    SET disabled_at = clock_timestamp(), disabled_reason = 'requested', updated_at = clock_timestamp()
    WHERE id = $1 AND disabled_at IS NULL`,
};

export const ENABLE_ENDPOINT: Statement = {
  name: 'webhooks.enable-endpoint',
  text: `
    UPDATE webhook_endpoints
    SET disabled_at = NULL, disabled_reason = NULL, updated_at = clock_timestamp()
    WHERE id = $1 AND disabled_at IS NOT NULL`,
};

/** Passes by what it has not read yet. */
export const READ_TO_NEWEST: Statement = {
  name: 'webhooks.read-to-newest',
  text: `
    UPDATE webhook_endpoints
    SET read_to = greatest(read_to, (SELECT coalesce(max(sequence), 0) FROM domain_events))
    WHERE id = $1`,
};

export const ROTATE_SECRET: Statement = {
  name: 'webhooks.rotate-secret',
  text: `
    UPDATE webhook_endpoints
    SET secret_ciphertext = $2, previous_secret_ciphertext = $3,
      previous_secret_until = CASE WHEN $3::bytea IS NOT NULL
        THEN greatest(previous_secret_until, clock_timestamp() + $4 * interval '1 second') END,
      updated_at = clock_timestamp()
    WHERE id = $1
    RETURNING previous_secret_until AS "previousSecretUntil"`,
};

export const DELETE_ENDPOINT: Statement = {
  name: 'webhooks.delete-endpoint',
  text: 'DELETE FROM webhook_endpoints WHERE id = $1',
};

// An endpoint may have millions of deliveries, so whatever is done to all of them is done in steps, each of which locks rows for
// a moment and stays far below the statement timeout. The rows of a step are chosen before they are changed (MATERIALIZED), since
// otherwise the planner may ask for the choice anew for every row.
const STEP = 5_000;

export const DELETE_SOME_DELIVERIES: Statement = {
  name: 'webhooks.delete-some-deliveries',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 LIMIT ${STEP}
    )
    DELETE FROM webhook_deliveries AS delivery USING chosen WHERE delivery.id = chosen.id
    RETURNING delivery.id`,
};

export const SKIP_SOME_PENDING: Statement = {
  name: 'webhooks.skip-some-pending',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending'
      ORDER BY subject, position LIMIT ${STEP} FOR NO KEY UPDATE
    )
    UPDATE webhook_deliveries AS delivery
    SET status = 'failed', next_attempt_at = NULL, last_error = 'skipped'
    FROM chosen WHERE delivery.id = chosen.id
    RETURNING delivery.id`,
};

/** Those that wait for another attempt. */
export const SOME_PENDING_DUE: Statement = {
  name: 'webhooks.some-pending-due',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending' AND next_attempt_at > clock_timestamp()
      ORDER BY next_attempt_at LIMIT ${STEP} FOR NO KEY UPDATE
    )
    UPDATE webhook_deliveries AS delivery SET next_attempt_at = clock_timestamp()
    FROM chosen WHERE delivery.id = chosen.id
    RETURNING delivery.id`,
};

export const STEP_SIZE = STEP;
