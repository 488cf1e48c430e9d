// SQL by hand, since Prisma Client has no database clock, no LIMIT for deletes and no SKIP LOCKED. Each statement reads up to $2 rows and
// deletes those older than $1 days, with the rows that belong to them. Replicas that prune at the same time skip each other's rows.
// MATERIALIZED, since a nested loop would run a plain subquery, and its LIMIT, once per row.

// now() instead of clock_timestamp(): only a stable function can bound an index scan.
const cutoff = `now() - $1 * interval '1 day'`;

// Deletes only whole histories: from an incomplete history, `rederive` would derive a wrong state. So the age counts from closed_at. Reads
// the oldest observations after the id $3, since there is no index by session and age. The caller continues while `isOld` is true.
export const PRUNE_OBSERVATIONS = `
    WITH page AS MATERIALIZED (
      SELECT id, session_id, observed_at FROM session_observations WHERE id > $3 ORDER BY id LIMIT $2
    ), ended AS MATERIALIZED (
      SELECT id FROM onboarding_sessions WHERE id IN (SELECT session_id FROM page) AND closed_at < ${cutoff}
      ORDER BY id FOR UPDATE SKIP LOCKED
    ), pruned AS (
      DELETE FROM session_observations WHERE session_id IN (SELECT id FROM ended) RETURNING 1
    )
    SELECT max(id) AS last, bool_or(observed_at < ${cutoff}) AS "isOld", (SELECT count(*)::int FROM pruned) AS pruned FROM page`;

// Keeps pending deliveries, whatever their age. Reads endpoint by endpoint to use the index by endpoint and time.
export const PRUNE_DELIVERIES = `
    WITH gone AS MATERIALIZED (
      SELECT old.id FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
        SELECT id FROM webhook_deliveries
        WHERE endpoint_id = endpoint.id AND created_at < ${cutoff} AND status <> 'pending'
        ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
      ) AS old LIMIT $2
    )
    DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM gone) RETURNING id`;

// Keeps every event that an endpoint (enabled or not), the broker or a handler has not received yet. Keeps the newest event, because new
// sequences continue from its sequence. Reads the oldest events after the sequence $3: otherwise, every batch would read the kept events
// again.
export const PRUNE_EVENTS = `
    WITH page AS MATERIALIZED (
      SELECT position, sequence, time FROM domain_events WHERE sequence > $3 ORDER BY sequence LIMIT $2
    ), gone AS MATERIALIZED (
      SELECT position FROM domain_events AS event
      WHERE position IN (SELECT position FROM page) AND time < ${cutoff}
        AND sequence < (SELECT max(sequence) FROM domain_events)
        AND sequence <= ALL (SELECT read_to FROM webhook_endpoints UNION ALL SELECT read_to FROM broker_positions)
        AND NOT EXISTS (SELECT FROM handler_deliveries AS owed WHERE owed.position = event.position)
        AND NOT EXISTS (SELECT FROM webhook_deliveries AS owed WHERE owed.position = event.position AND owed.status = 'pending')
      ORDER BY position FOR UPDATE SKIP LOCKED
    ), pruned AS (
      DELETE FROM domain_events WHERE position IN (SELECT position FROM gone) RETURNING 1
    )
    SELECT max(sequence) AS last, bool_or(time < ${cutoff}) AS "isOld", (SELECT count(*)::int FROM pruned) AS pruned FROM page`;

/** Deletes closed sessions with their starts, history and inverters. Their events stay. A later change, such as a refresh, restarts the period. */
export const PRUNE_SESSIONS = `
    WITH gone AS MATERIALIZED (
      SELECT id FROM onboarding_sessions WHERE changed_at < ${cutoff} AND closed_at < ${cutoff}
      ORDER BY changed_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )
    DELETE FROM onboarding_sessions WHERE id IN (SELECT id FROM gone) RETURNING id`;
