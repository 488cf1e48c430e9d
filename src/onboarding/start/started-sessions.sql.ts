import { appendingAfter } from '../../events/outbox.js';
import type { Statement } from '../../platform/database/database.js';
import { instantOf } from '../../platform/database/timestamps.js';
import { holdingPlace } from './starts.sql.js';

// The database's clock, in the format of instants in events.
const OBSERVED_AT = `to_jsonb(to_char(now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

const IS_OPEN = `closed_at IS NULL AND state IN ('awaiting_owner', 'awaiting_installation')`;

/**
 * Records the session $5, which the remote service returned for the start $3 (with the lease token $4) of location $1 and brand $2:
 * - inserts the session ($6, with the ciphertext $7 of its startUrl), the response ($8), the transition and the event ($10);
 * - makes it the current session of its location and brand;
 * - watches it, with the first read in $9 ms (nobody finishes a web flow faster).
 *
 * Returns no row and changes nothing if the start is no longer leased to the caller, or if its location or user is gone.
 *
 * If the session is already known, "startedAt" is null:
 * - If it has the same user, location and brand and is not over, the remote service returned the first session for a second start. It
 *   becomes the current one, and receives the startUrl if it is open and has none (see MOVE_SESSIONS). Nothing else about it changes.
 * - Otherwise "owner" names what the id belongs to, and nothing changes. The same holds if the id is the subject of events about
 *   something else, such as a user.
 * - A session that another transaction inserts concurrently is not visible to this statement, which then fails with a unique violation.
 *   Only a further statement can see whose session that is.
 *
 * `held` precedes everything else, and the event follows its transition, in the order of a session's history. The insert reads a count of
 * the superseded sessions, because the unique index on current sessions has room only after these have been updated.
 */
export const KEEP_STARTED_SESSION: Statement = {
  name: 'keep_started_session',
  text: `
    WITH clock AS MATERIALIZED (
      SELECT date_trunc('milliseconds', clock_timestamp()) AS now
    ), ${holdingPlace('$1')}, held AS MATERIALIZED (
      SELECT s.id, place.user_id FROM session_starts s, place
       WHERE s.id = $3 AND s.lease_token = $4 AND s.status = 'sending'
         FOR UPDATE OF s
    ), known AS MATERIALIZED (
      SELECT CASE WHEN k.user_id <> held.user_id THEN 'another user'
                  WHEN k.grid_location_id <> $1 THEN 'another location'
                  WHEN k.brand IS DISTINCT FROM $2 THEN 'another brand'
                  WHEN k.closed_at IS NOT NULL OR k.state IN ('online', 'expired', 'lost') THEN 'a session that is over' END AS owner
        FROM onboarding_sessions k, held
       WHERE k.id = $5
       UNION ALL
      SELECT 'something else' FROM held
       WHERE EXISTS (SELECT FROM domain_events WHERE subject = $5::text)
         AND NOT EXISTS (SELECT FROM onboarding_sessions WHERE id = $5)
    ), accepted AS MATERIALIZED (
      SELECT held.* FROM held WHERE NOT EXISTS (SELECT FROM known WHERE owner IS NOT NULL)
    ), superseded AS (
      UPDATE onboarding_sessions SET superseded_at = clock_timestamp(), changed_at = clock_timestamp()
       WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND superseded_at IS NULL AND id <> $5
         AND EXISTS (SELECT FROM accepted)
      RETURNING id
    ), reinstated AS (
      UPDATE onboarding_sessions
         SET superseded_at = NULL, start_url_ciphertext = CASE WHEN ${IS_OPEN} THEN coalesce(start_url_ciphertext, $7::bytea) ELSE start_url_ciphertext END,
             changed_at = clock_timestamp()
       WHERE id = $5 AND (superseded_at IS NOT NULL OR ($7::bytea IS NOT NULL AND start_url_ciphertext IS NULL AND ${IS_OPEN}))
         AND EXISTS (SELECT FROM accepted) AND (SELECT count(*) FROM superseded) >= 0
    ), session AS (
      INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, expired,
                                       start_url_ciphertext, created_at, updated_at, expires_at, started_updated_at,
                                       state_changed_at, changed_at, last_checked_at)
      SELECT $5, accepted.user_id, $1, $2, s.metadata, s.state, s.basis, s.rule, s.finished, s.active, s.expired,
             $7, ${instantOf('s.created_ms')}, ${instantOf('s.updated_ms')}, ${instantOf('s.expires_ms')}, ${instantOf('s.updated_ms')}, clock.now, clock.now, clock.now
        FROM accepted, clock, (SELECT count(*) FROM superseded) AS room,
             jsonb_to_record($6::jsonb) AS s(metadata jsonb, state text, basis text, rule text, finished boolean, active boolean,
               expired boolean, created_ms float8, updated_ms float8, expires_ms float8)
       WHERE NOT EXISTS (SELECT FROM known)
      RETURNING id, user_id, state, basis, rule, state_changed_at AS now
    ), watched AS (
      INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
      SELECT id, user_id, now + $9 * interval '1 millisecond', now, now, $6::jsonb ->> 'phase', now FROM session
    ), answer AS (
      INSERT INTO session_observations (session_id, source, http_status, body, hash)
      SELECT session.id, 'start', o.http_status, o.body::json, decode(o.hash, 'hex')
        FROM session, jsonb_to_record($8::jsonb) AS o(http_status int, body text, hash text)
      RETURNING id
    ), transition AS (
      INSERT INTO session_transitions (session_id, from_state, to_state, basis, rule, observation_id, at)
      SELECT session.id, NULL, state, basis, rule, answer.id, now FROM session, answer
      RETURNING session_id AS id
    ), finished AS (
      UPDATE session_starts SET status = 'started', session_id = $5, updated_at = clock_timestamp()
       WHERE id = $3 AND EXISTS (SELECT FROM accepted)
    ), ${appendingAfter('transition', `(SELECT jsonb_build_array(jsonb_set($10::jsonb, '{data,observedAt}', ${OBSERVED_AT})) FROM clock)`)}
    SELECT (SELECT now FROM session) AS "startedAt", (SELECT owner FROM known) AS owner, (SELECT count(*) FROM jobs) AS jobs FROM held`,
};
