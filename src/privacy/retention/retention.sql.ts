import { CLEARED } from '../../campaigns/erase-rows.sql.js';

// The statements are SQL, since Prisma Client has no database clock, no LIMIT for deletes and no SKIP LOCKED. Each statement reads up to $2
// rows and deletes those older than $1 days, with the rows that belong to them. It returns their number as `pruned`, and as `next` the
// cursor of the next statement, or null if no old rows are left. $3 is the cursor, '0' at first. $4 is the number of rows to leave out at
// the cursor, which PostgreSQL refuses to delete. Replicas that prune at the same time skip each other's rows. The CTEs are MATERIALIZED, since a nested loop would run a plain subquery, and its LIMIT, once per row.

// Uses now() instead of clock_timestamp(), since only a stable function can bound an index scan.
const cutoff = `now() - $1 * interval '1 day'`;

const deleteGone = (table: string, key = 'id') =>
  `pruned AS (DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM gone) RETURNING 1)`;
/** Clears the audit entries of these targets, as an erasure would, since an erasure can no longer find them. */
const clearAudit = (targets: string, cleared = '') =>
  `cleared_audit AS (UPDATE audit_log SET request_id = NULL${cleared} WHERE target IN (${targets}))`;
/** Ends a statement that reads the oldest rows. If it has deleted $2 rows, which is its limit, more old rows may be left. */
const WHILE_FULL =
  'SELECT count(*)::int AS pruned, CASE count(*) WHEN $2 THEN $3::text END AS next FROM pruned';
/** Ends a statement that reads a page of rows and keeps some of them. `next`: the cursor of the next page. */
const nextPage = (next: string) =>
  `SELECT (SELECT count(*)::int FROM pruned) AS pruned, ${next} AS next FROM page`;

// Deletes all observations of a closed session together: from an incomplete history, `rederive` would derive a wrong state. So their age
// counts from the closed_at of the session, or its last change if it is watched on. Reads the oldest observations after the id $3, since there is no index by session and age.
export const PRUNE_OBSERVATIONS = `
    WITH page AS MATERIALIZED (
      SELECT id, session_id, observed_at FROM session_observations WHERE id > $3 ORDER BY id LIMIT $2 OFFSET $4
    ), ended AS MATERIALIZED (
      SELECT id FROM onboarding_sessions WHERE id IN (SELECT session_id FROM page) AND closed_at < ${cutoff} AND changed_at < ${cutoff}
      ORDER BY id FOR UPDATE SKIP LOCKED
    ), pruned AS (
      DELETE FROM session_observations WHERE session_id IN (SELECT id FROM ended) RETURNING 1
    )
    ${nextPage(`CASE WHEN bool_or(observed_at < ${cutoff}) THEN max(id) END`)}`;

// Keeps pending deliveries, whatever their age. Reads endpoint by endpoint to use the index by endpoint and time.
export const PRUNE_DELIVERIES = `
    WITH gone AS MATERIALIZED (
      SELECT old.id FROM webhook_endpoints AS endpoint CROSS JOIN LATERAL (
        SELECT id FROM webhook_deliveries
        WHERE endpoint_id = endpoint.id AND created_at < ${cutoff} AND status <> 'pending'
        ORDER BY created_at, id LIMIT $2::bigint + $4 FOR UPDATE SKIP LOCKED
      ) AS old LIMIT $2 OFFSET $4
    ), ${deleteGone('webhook_deliveries')}
    ${WHILE_FULL}`;

// Keeps every event that an endpoint (of a webhook or handler, enabled or not) or the broker has not received yet. Keeps the newest event,
// because new sequences continue from its sequence. Reads the oldest events after the sequence $3, since otherwise every batch would
// read the kept events again.
export const PRUNE_EVENTS = `
    WITH page AS MATERIALIZED (
      SELECT position, sequence, time FROM domain_events WHERE sequence > $3 ORDER BY sequence LIMIT $2 OFFSET $4
    ), gone AS MATERIALIZED (
      SELECT position FROM domain_events AS event
      WHERE position IN (SELECT position FROM page) AND time < ${cutoff}
        AND sequence < (SELECT max(sequence) FROM domain_events)
        AND sequence <= ALL (SELECT read_to FROM webhook_endpoints UNION ALL SELECT read_to FROM broker_positions)
        AND NOT EXISTS (SELECT FROM webhook_deliveries AS owed WHERE owed.position = event.position AND owed.status = 'pending')
      ORDER BY position FOR UPDATE SKIP LOCKED
    ), ${deleteGone('domain_events', 'position')}
    ${nextPage(`CASE WHEN bool_or(time < ${cutoff}) THEN max(sequence) END`)}`;

/**
 * Deletes closed sessions with their starts, history and inverters. Their events stay, and pruned_sessions records their users. A later
 * change, such as a refresh, restarts the period.
 */
export const PRUNE_SESSIONS = `
    WITH gone AS MATERIALIZED (
      SELECT id, user_id FROM onboarding_sessions WHERE changed_at < ${cutoff} AND closed_at < ${cutoff}
      ORDER BY changed_at, id LIMIT $2 OFFSET $4 FOR UPDATE SKIP LOCKED
    ), remembered AS (
      INSERT INTO pruned_sessions (session_id, user_id) SELECT id, user_id FROM gone ON CONFLICT DO NOTHING
    ), ${clearAudit(`SELECT id::text FROM session_starts WHERE session_id IN (SELECT id FROM gone)
        UNION ALL SELECT id::text FROM inverters WHERE session_id IN (SELECT id FROM gone)`)}, ${deleteGone('onboarding_sessions')}
    ${WHILE_FULL}`;

/** Deletes from pruned_sessions the sessions without events. Reads all its rows in the order of their ids ($3 without hyphens). */
export const FORGET_SESSIONS = `
    WITH page AS MATERIALIZED (
      SELECT session_id FROM pruned_sessions WHERE $1::float8 > 0 AND session_id > lpad($3, 32, '0')::uuid ORDER BY session_id LIMIT $2 OFFSET $4
    ), gone AS MATERIALIZED (
      SELECT session_id FROM pruned_sessions AS session
      WHERE session_id IN (SELECT session_id FROM page)
        AND NOT EXISTS (SELECT FROM domain_events WHERE subject = session.session_id::text)
      ORDER BY session_id FOR UPDATE SKIP LOCKED
    ), ${clearAudit('SELECT session_id::text FROM gone')}, ${deleteGone('pruned_sessions', 'session_id')}
    ${nextPage(`CASE count(*) WHEN $2 THEN max(replace(session_id::text, '-', '')) END`)}`;

// Keeps a registration while events about it are stored: an erasure of the person finds the events by the id of the registration.
// Reads all ended registrations, in the order of their ids ($3 without hyphens): otherwise, every batch would read the kept ones again.
export const PRUNE_REGISTRATIONS = `
    WITH page AS MATERIALIZED (
      SELECT id, updated_at FROM registrations
      WHERE status IN ('rejected', 'discarded') AND id > lpad($3, 32, '0')::uuid ORDER BY id LIMIT $2 OFFSET $4
    ), gone AS MATERIALIZED (
      SELECT id FROM registrations AS registration
      WHERE id IN (SELECT id FROM page WHERE updated_at < ${cutoff}) AND status IN ('rejected', 'discarded')
        AND NOT EXISTS (SELECT FROM domain_events WHERE subject = registration.id::text)
      ORDER BY id FOR UPDATE SKIP LOCKED
    ), ${clearAudit('SELECT id::text FROM gone')}, ${deleteGone('registrations')}
    ${nextPage(`CASE count(*) WHEN $2 THEN max(replace(id::text, '-', '')) END`)}`;

// Keeps a start with an orphan: nothing else records that the remote service has a session that nobody knows.
export const PRUNE_STARTS = `
    WITH gone AS MATERIALIZED (
      SELECT id FROM session_starts WHERE status = 'failed' AND orphans = 0 AND updated_at < ${cutoff}
      ORDER BY updated_at, id LIMIT $2 OFFSET $4 FOR UPDATE SKIP LOCKED
    ), ${clearAudit('SELECT id::text FROM gone')}, ${deleteGone('session_starts')}
    ${WHILE_FULL}`;

export const PRUNE_BULK_ACTIONS = `
    WITH gone AS MATERIALIZED (
      SELECT id FROM bulk_actions WHERE finished_at < ${cutoff} ORDER BY finished_at, id LIMIT $2 OFFSET $4 FOR UPDATE SKIP LOCKED
    ), ${clearAudit('SELECT id::text FROM gone', ", details = details - 'reason'")}, ${deleteGone('bulk_actions')}
    ${WHILE_FULL}`;

// Keeps the proof of each erasure. Reads the oldest entries after the id $3, like PRUNE_OBSERVATIONS.
export const PRUNE_AUDIT = `
    WITH page AS MATERIALIZED (
      SELECT id, at, action FROM audit_log WHERE id > $3 ORDER BY id LIMIT $2 OFFSET $4
    ), gone AS MATERIALIZED (
      SELECT id FROM audit_log
      WHERE id IN (SELECT id FROM page WHERE at < ${cutoff} AND action <> 'user.erased') ORDER BY id FOR UPDATE SKIP LOCKED
    ), ${deleteGone('audit_log')}
    ${nextPage(`CASE WHEN bool_or(at < ${cutoff}) THEN max(id) END`)}`;

/**
 * Empties the rows of campaigns that have ended, one campaign after the other. $3 is `campaign/line/left`: the line of the last emptied row
 * (none: that was the last of the campaign), and whether a row was left out.
 */
// Keeps the rows themselves, since the counts of the campaign are counts of its rows. The cursor names the campaign, because another
// replica may have emptied that campaign meanwhile. A campaign with a row left out is read again the next time.
export const CLEAR_CAMPAIGNS = `
    WITH place AS MATERIALIZED (
      SELECT id, finished_at, nullif(split_part($3, '/', 2), '')::int AS line, split_part($3, '/', 3) AS remains
      FROM campaigns WHERE id::text = split_part($3, '/', 1)
    ), ended AS MATERIALIZED (
      SELECT id FROM campaigns AS campaign WHERE finished_at < ${cutoff} AND cleared_at IS NULL AND NOT EXISTS (
        SELECT FROM place
        WHERE (campaign.finished_at, campaign.id) < (place.finished_at, place.id) OR (campaign.id = place.id AND line IS NULL)
      ) ORDER BY finished_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
    ), state AS MATERIALIZED (
      SELECT ended.id, coalesce(line, 0) AS line, CASE WHEN $4 > 0 THEN 'left' ELSE coalesce(remains, '') END AS remains
      FROM ended LEFT JOIN place USING (id)
    ), page AS MATERIALIZED (
      SELECT row.line FROM campaign_rows AS row JOIN state ON campaign_id = id AND row.line > state.line
      ORDER BY row.line LIMIT $2 OFFSET $4
    ), pruned AS (
      UPDATE campaign_rows
      SET ${CLEARED}
      WHERE campaign_id IN (SELECT id FROM ended) AND line IN (SELECT line FROM page) RETURNING 1
    ), cleared AS (
      UPDATE campaigns SET cleared_at = clock_timestamp()
      WHERE id IN (SELECT id FROM state WHERE remains = '') AND (SELECT count(*) FROM page) < $2
    )
    ${nextPage(`(SELECT id FROM state) || '/' || CASE count(*) WHEN $2 THEN max(line)::text ELSE '' END || '/' || (SELECT remains FROM state)`)}`;
