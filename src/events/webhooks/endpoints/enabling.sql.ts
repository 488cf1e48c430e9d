import type { Statement } from '../../../platform/database/database.js';

/** Resets the health after a repair: earlier failures say nothing about the endpoint now. */
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

/** Skips the events that the fan-out has not read yet. */
export const READ_TO_NEWEST: Statement = {
  name: 'webhooks.read-to-newest',
  text: `
    UPDATE webhook_endpoints
    SET read_to = greatest(read_to, (SELECT coalesce(max(sequence), 0) FROM domain_events))
    WHERE id = $1`,
};

export const DELETE_ENDPOINT: Statement = {
  name: 'webhooks.delete-endpoint',
  text: 'DELETE FROM webhook_endpoints WHERE id = $1',
};

// An endpoint may have millions of deliveries, so changes of all of them run in steps. Each step locks rows briefly and stays far
// below the statement timeout. MATERIALIZED chooses the rows once; otherwise the planner may choose again for every row.
export const STEP_SIZE = 5_000;

export const DELETE_SOME_DELIVERIES: Statement = {
  name: 'webhooks.delete-some-deliveries',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 LIMIT ${STEP_SIZE}
    )
    DELETE FROM webhook_deliveries AS delivery USING chosen WHERE delivery.id = chosen.id
    RETURNING delivery.id`,
};

export const SKIP_SOME_PENDING: Statement = {
  name: 'webhooks.skip-some-pending',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending'
      ORDER BY subject, position LIMIT ${STEP_SIZE} FOR NO KEY UPDATE
    )
    UPDATE webhook_deliveries AS delivery
    SET status = 'failed', next_attempt_at = NULL, last_error = 'skipped'
    FROM chosen WHERE delivery.id = chosen.id
    RETURNING delivery.id`,
};

/** Makes deliveries due that wait for a retry. */
export const SOME_PENDING_DUE: Statement = {
  name: 'webhooks.some-pending-due',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'pending' AND next_attempt_at > clock_timestamp()
      ORDER BY next_attempt_at LIMIT ${STEP_SIZE} FOR NO KEY UPDATE
    )
    UPDATE webhook_deliveries AS delivery SET next_attempt_at = clock_timestamp()
    FROM chosen WHERE delivery.id = chosen.id
    RETURNING delivery.id`,
};
