import type { Statement } from '../../../platform/database/database.js';

/** Events per step. A step takes tens of milliseconds, so no row is locked for long. */
export const STEP_SIZE = 5_000;

const ASKED_FOR_AGAIN = `status = 'pending', attempts = 0, next_attempt_at = clock_timestamp()`;

export const REDELIVER_ONE: Statement = {
  name: 'webhooks.redeliver-one',
  text: `
    UPDATE webhook_deliveries SET ${ASKED_FOR_AGAIN} WHERE id = $1
    RETURNING endpoint_id AS "endpointId"`,
};

export const REDELIVER_THESE: Statement = {
  name: 'webhooks.redeliver-these',
  text: `
    WITH chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND id = ANY ($2::uuid[])
      ORDER BY position FOR NO KEY UPDATE
    )
    UPDATE webhook_deliveries AS delivery SET ${ASKED_FOR_AGAIN}
    FROM chosen WHERE delivery.id = chosen.id
    RETURNING delivery.id`,
};

// Limits the events read, not those that match, so that a filter for something rare does not read the whole feed in one step.
const SPAN = `
  span AS MATERIALIZED (
    SELECT position, sequence, subject, name FROM domain_events
    WHERE sequence > $2 AND sequence <= $3 ORDER BY sequence LIMIT ${STEP_SIZE}
  ), wanted AS (
    SELECT position, subject FROM span WHERE cardinality($4::text[]) = 0 OR name = ANY ($4)
  )`;

const COUNTED = `
  SELECT (SELECT max(sequence) FROM span) AS reached, (SELECT count(*)::int FROM span) AS seen,
    (SELECT count(*)::int FROM redelivered) AS redelivered`;

/** Also inserts deliveries of events that the endpoint never received, because it was not subscribed or did not exist. */
export const REDELIVER_SPAN: Statement = {
  name: 'webhooks.redeliver-span',
  text: `
    WITH ${SPAN}, redelivered AS (
      INSERT INTO webhook_deliveries AS delivery (endpoint_id, position, subject)
      SELECT $1, position, subject FROM wanted ORDER BY position
      ON CONFLICT (endpoint_id, position) DO UPDATE SET ${ASKED_FOR_AGAIN}
      RETURNING delivery.id
    )
    ${COUNTED}`,
};

export const REDELIVER_FAILED_SPAN: Statement = {
  name: 'webhooks.redeliver-failed-span',
  text: `
    WITH ${SPAN}, chosen AS MATERIALIZED (
      SELECT delivery.id
      FROM wanted JOIN webhook_deliveries AS delivery ON delivery.endpoint_id = $1 AND delivery.position = wanted.position
      WHERE delivery.status = 'failed' ORDER BY delivery.position FOR NO KEY UPDATE OF delivery
    ), redelivered AS (
      UPDATE webhook_deliveries AS delivery SET ${ASKED_FOR_AGAIN}
      FROM chosen WHERE delivery.id = chosen.id
      RETURNING delivery.id
    )
    ${COUNTED}`,
};
