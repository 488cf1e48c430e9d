import { prepared } from '../platform/database/database.js';
import { leasesOn } from '../platform/database/lease.sql.js';
import type { DueDelivery } from './outlet.js';

/** At most one process at a time delivers to an endpoint. An endpoint with unread events is due, too. */
export const ENDPOINT_LEASES = leasesOn({
  table: 'webhook_endpoints',
  key: 'id',
  isDue: `(disabled_at IS NULL AND coalesce(quiet_until <= clock_timestamp(), true)
    AND (due_at <= clock_timestamp() OR read_to < (SELECT max(sequence) FROM domain_events)))`,
});

/** The endpoints that may be claimed, also while another process delivers to them, and the events that no reader sees yet. */
export const ANY_DUE = `
    SELECT FROM domain_events WHERE sequence IS NULL
    UNION ALL SELECT FROM webhook_endpoints WHERE ${ENDPOINT_LEASES.isClaimable}`;

/** Selects the claimable endpoints: of the handlers with the names in $1, and of webhooks if $1 contains ''. */
export const FIND_DUE = prepared('deliveries.find_due_endpoints')`
    SELECT id, coalesce(handler, '') AS handler FROM webhook_endpoints
    WHERE coalesce(handler, '') = ANY ($1::text[]) AND ${ENDPOINT_LEASES.isClaimable}`;

/** The most events that one statement turns into deliveries. It locks the endpoint's row for some tens of milliseconds. */
const AT_ONCE = 1_000;

const IS_OURS = 'id = $1 AND lease_token = $2 AND disabled_at IS NULL';

// Turns the next events into deliveries. Chooses at most $4 due subjects that are not in $3, and returns the first delivery of each. The
// table webhook_subjects is the queue of an endpoint: it has one row per subject with pending deliveries, which is due when the first of
// them is. A subject that this statement has just queued is due, too. Uses now(), because an index condition cannot use clock_timestamp().
// Locks the endpoint only if it has unread events, since a lock is a write. The snapshot of the events may be older than the locked row,
// but no event is skipped, because sequences become visible in order.
export const TAKE = prepared('deliveries.take')`
    WITH endpoint AS MATERIALIZED (
      SELECT id, types, read_to FROM webhook_endpoints
      WHERE ${IS_OURS} AND read_to < (SELECT max(sequence) FROM domain_events) FOR NO KEY UPDATE
    ), passed AS MATERIALIZED (
      SELECT event.position, event.sequence, event.subject, event.name
      FROM endpoint CROSS JOIN LATERAL (
        SELECT position, sequence, subject, name FROM domain_events
        WHERE sequence > endpoint.read_to ORDER BY sequence LIMIT ${AT_ONCE}
      ) AS event
    ), written AS (
      INSERT INTO webhook_deliveries (endpoint_id, position, subject)
      SELECT endpoint.id, passed.position, passed.subject
      FROM passed CROSS JOIN endpoint
      WHERE cardinality(endpoint.types) = 0 OR passed.name = ANY (endpoint.types)
      ORDER BY passed.position
      ON CONFLICT (endpoint_id, position) DO NOTHING
      RETURNING id, position, subject
    ), queued AS (
      INSERT INTO webhook_subjects (endpoint_id, subject)
      SELECT DISTINCT $1::uuid, subject FROM written ORDER BY subject
      ON CONFLICT (endpoint_id, subject) DO NOTHING
      RETURNING subject, due_at
    ), moved AS (
      UPDATE webhook_endpoints SET read_to = (SELECT max(sequence) FROM passed)
      WHERE id = $1 AND EXISTS (SELECT FROM passed)
    ), due AS MATERIALIZED (
      SELECT subject, due_at FROM webhook_subjects
      WHERE endpoint_id = $1 AND due_at <= now() AND subject <> ALL ($3::text[])
        AND EXISTS (SELECT FROM webhook_endpoints WHERE ${IS_OURS})
      ORDER BY due_at LIMIT $4
    ), next AS (
      SELECT due.due_at, first.* FROM due CROSS JOIN LATERAL (
        SELECT id, position, attempts, early_attempts, next_attempt_at > now() AS is_early FROM webhook_deliveries
        WHERE endpoint_id = $1 AND status = 'pending' AND subject = due.subject
        ORDER BY position LIMIT 1
      ) AS first
      UNION ALL
      (SELECT DISTINCT ON (subject) due_at, id, position, 0, 0, false FROM written JOIN queued USING (subject)
       ORDER BY subject, position)
    ), taken AS (
      SELECT next.due_at, next.id AS "deliveryId", next.position, next.attempts, next.early_attempts AS "earlyAttempts",
        next.is_early AS "isEarly", event.id, event.name, event.subject, event.sequence, event.time, event.data, event.traceparent
      FROM next JOIN domain_events AS event ON event.position = next.position
      ORDER BY next.due_at, next.position LIMIT $4
    )
    SELECT passed.count = ${AT_ONCE} AS "mayMoreBeUnread", taken.*
    FROM (SELECT count(*) FROM passed) AS passed LEFT JOIN taken ON true ORDER BY taken.due_at, taken.position`;

export type TakenRow = { readonly mayMoreBeUnread: boolean } & (DueDelivery | { readonly deliveryId: null });
