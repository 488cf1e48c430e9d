import { mayAct } from '../../access/acting-caller.js';
import { REPEATABLE_FOR } from '../../access/execution.js';
import { prepared } from '../../platform/database/database.js';
import { leasesOn } from '../../platform/database/lease.sql.js';
import { FOR_ABANDONED_LEASES } from '../../platform/database/abandoned-leases.js';
import { msFromNow, msUntil } from '../../platform/database/timestamps.js';
import { STRETCH } from '../poll/read-budget.store.js';
import { ABANDONED, RELEASED } from '../rules/start-failure.rules.js';
import { SESSION_TO_REUSE } from '../store/sessions.sql.js';
import { failedStart, PLACE_OF_START } from './failed-starts.store.js';

// The statements are SQL, because leases begin and end by the database's clock, which Prisma Client cannot use.

/** Selects the location $1 of a user who is not erased. Locks the user before the start, as an erasure does, to avoid deadlocks. */
const lockedPlace = (condition = 'true'): string => `
    place AS MATERIALIZED (
      SELECT g.id, u.id AS user_id, u.tenant_reference FROM ${PLACE_OF_START}
       WHERE g.id = $1 AND u.erased_at IS NULL AND ${condition}
         FOR KEY SHARE OF u
    )`;

/** Whether an id is already the subject of events, for example as the id of a user or another session. */
const isSubject = (id: string): string =>
  `EXISTS (SELECT FROM domain_events WHERE subject = ${id}::uuid::text)`;

/**
 * Selects what hinders a start of location $1 and brand $2: the session that request $4 has started, or that is to be reused unless $3 is
 * `false`, and the failed starts that may have left orphans since the last one that succeeded. Counts none if the user has been erased,
 * since BEGIN_START then finds the location gone.
 */
const SELECT_HINDRANCE = `
    SELECT coalesce((SELECT session_id FROM session_starts
                      WHERE grid_location_id = $1 AND request = $4 AND status = 'started' AND created_at > clock_timestamp() - ${REPEATABLE_FOR}),
                    (SELECT id FROM (${SESSION_TO_REUSE}) AS reusable WHERE $3::text <> 'false')) AS "sessionId",
           count(*)::int AS failures, coalesce(-${msUntil('max(s.updated_at)')}, 0) AS "agoMs",
           (array_agg(s.last_error ORDER BY s.updated_at DESC))[1] AS error
      FROM session_starts s
     WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND status = 'failed' AND orphans > 0
       AND EXISTS (SELECT FROM ${PLACE_OF_START} WHERE g.id = s.grid_location_id AND u.erased_at IS NULL)
       AND s.created_at > coalesce((SELECT max(created_at) FROM session_starts
                                   WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND status = 'started'), '-infinity')`;

export const FIND_HINDRANCE = prepared('onboarding.find_start_hindrance')`${SELECT_HINDRANCE}`;

/**
 * Returns what hinders the start. Unless that is a session or more than $5 failed starts, inserts the intent to start a session, or
 * takes over a start with an expired lease. `userId` is null if the location or its user is gone, or key $8 is revoked.
 */
// The partial unique index allows one start in flight per location and brand: `id` is null if another start is in flight.
// A take-over counts an orphan, since the call of the previous process may have started a session.
// Locks nothing if there is a hindrance: most double clicks end here, without a write. CASE, because AND guarantees no order.
export const BEGIN_START = prepared('onboarding.begin_session_start')`
    WITH hindrance AS MATERIALIZED (${SELECT_HINDRANCE}
    ), ${lockedPlace(`CASE WHEN (SELECT "sessionId" IS NULL AND failures <= $5 FROM hindrance) THEN ${mayAct('$8')} END`)}, begun AS (
      INSERT INTO session_starts AS s (grid_location_id, brand, request, lease_token, lease_until)
      SELECT id, $2, $4, $6, ${msFromNow('$7')} FROM place
      ON CONFLICT (grid_location_id, brand) WHERE status = 'sending' DO UPDATE
         SET request = excluded.request, lease_token = excluded.lease_token, lease_until = excluded.lease_until,
             attempts = s.attempts + 1, orphans = s.orphans + 1, last_error = '${ABANDONED.error}',
             updated_at = clock_timestamp()
       WHERE s.lease_until < clock_timestamp()
      RETURNING id, attempts, lease_token
    )
    SELECT hindrance.*, begun.id, begun.attempts, begun.lease_token AS "leaseToken", place.user_id AS "userId",
           place.tenant_reference AS "tenantReference"
      FROM hindrance LEFT JOIN place ON true LEFT JOIN begun ON true`;

export const LEASES = leasesOn({ table: 'session_starts', key: 'id', isDue: 'true' });

/** Counts an orphan: the call whose response was lost may have started a session. */
// $5 is the number of calls so far. If an earlier execution has had its effect, this one changes no count.
export const REPEAT_START = `
    UPDATE session_starts
       SET attempts = $5::int + 1, orphans = orphans + ($5::int + 1 - attempts), last_error = $3, updated_at = clock_timestamp(),
           lease_until = ${msFromNow('$4')}
     WHERE id = $1 AND lease_token = $2 AND status = 'sending' AND attempts IN ($5::int, $5::int + 1)
    RETURNING attempts`;

export const FAIL_START = `
    UPDATE session_starts s
       SET status = 'failed', orphans = greatest(s.orphans, $3), last_error = $4, updated_at = clock_timestamp()
      FROM ${PLACE_OF_START}
     WHERE g.id = s.grid_location_id AND s.id = $1 AND s.lease_token = $2 AND s.status = 'sending'
    RETURNING ${failedStart('$5::text')} AS failed`;

/**
 * Locks the user of the location, then the start. Returns no row if the start is no longer leased to the caller. `isStored`: the caller has
 * already stored session $4, but has lost the response to its commit. `isSubject`: the id $4 has events. `now` is the database's clock.
 */
export const LOCK_START = prepared('onboarding.lock_session_start')`
    WITH ${lockedPlace()}
    SELECT date_trunc('milliseconds', clock_timestamp()) AS now, s.status = 'started' AS "isStored", ${isSubject('$4')} AS "isSubject",
           ${STRETCH} AS stretch
      FROM session_starts s, place
     WHERE s.id = $2 AND s.lease_token = $3 AND (s.status = 'sending' OR s.session_id = $4)
       FOR UPDATE OF s`;

/** Locks the user $2 of location $1. Returns no row if the location belongs to another user, or the user has been erased. See LOCK_START. */
export const LOCK_PLACE = prepared('onboarding.lock_place')`
    WITH ${lockedPlace()}
    SELECT date_trunc('milliseconds', clock_timestamp()) AS now, ${isSubject('$3')} AS "isSubject" FROM place WHERE user_id = $2`;

/** Locks session $3, whatever its user, and the current session of location $1 and brand $2, in the order of their ids. */
export const LOCK_CURRENT_AND_KNOWN = prepared('onboarding.lock_current_and_known_session')`
    SELECT id, user_id AS "userId", grid_location_id AS "gridLocationId", brand, state, closed_at AS "closedAt",
           superseded_at AS "supersededAt", start_url_ciphertext AS "startUrlCiphertext"
      FROM onboarding_sessions
     WHERE id = $3 OR (grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND superseded_at IS NULL)
     ORDER BY id
       FOR UPDATE`;

const started = (sessionId: string, at: string): string =>
  `status = 'started', session_id = ${sessionId}, updated_at = ${at}`;

/** Ends start $1 with session $2, which was recorded before. */
export const END_START = `UPDATE session_starts SET ${started('$2', '$3')} WHERE id = $1`;

/** Inserts session $1 with its startUrl $2, poll, response of the start and first transition. Ends the start it comes from, if any. */
// One statement instead of six: a start costs the caller a round trip for each.
export const INSERT_SESSION = prepared('onboarding.insert_session')`
    WITH s AS MATERIALIZED (
      SELECT * FROM jsonb_to_record($1::jsonb) AS s(
        id uuid, "userId" uuid, "gridLocationId" uuid, brand text, metadata jsonb, state text, basis text, rule text, finished boolean,
        active boolean, expired boolean, "createdAt" timestamptz, "updatedAt" timestamptz, "expiresAt" timestamptz, "supersededAt" timestamptz,
        now timestamptz, phase text, "dueAt" timestamptz, response jsonb, "startId" uuid)
    ), session AS (
      INSERT INTO onboarding_sessions (
        id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, expired, start_url_ciphertext, created_at,
        updated_at, expires_at, started_updated_at, superseded_at, state_changed_at, changed_at, last_checked_at)
      SELECT id, "userId", "gridLocationId", brand, metadata, state, basis, rule, finished, active, expired, $2::bytea, "createdAt",
        "updatedAt", "expiresAt", "updatedAt", "supersededAt", now, now, now
        FROM s
    ), poll AS (
      INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
      SELECT id, "userId", "dueAt", now, now, phase, now FROM s
    ), observation AS (
      INSERT INTO session_observations (session_id, source, http_status, body, hash)
      SELECT id, 'start', (response ->> 'httpStatus')::int, (response ->> 'body')::json, decode(response ->> 'hash', 'hex')
        FROM s WHERE response IS NOT NULL
      RETURNING id
    ), ended AS (
      UPDATE session_starts SET ${started('s.id', 's.now')} FROM s WHERE session_starts.id = s."startId"
    )
    INSERT INTO session_transitions (session_id, to_state, basis, rule, observation_id, at)
    SELECT s.id, state, basis, rule, observation.id, now FROM s LEFT JOIN observation ON true`;

/** Deletes a start that was never sent. If an earlier process may have sent it, marks it as failed: its orphan is already counted. */
// Finds the start by its lease: the id may have been lost with the database's response.
export const RELEASE_START = `
    WITH dropped AS (
      DELETE FROM session_starts
       WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND status = 'sending' AND lease_token = $3 AND attempts = 1
      RETURNING NULL::jsonb AS failed
    ), released AS (
      UPDATE session_starts s
         SET status = 'failed', attempts = s.attempts - 1, last_error = '${RELEASED.error}', updated_at = clock_timestamp()
        FROM ${PLACE_OF_START}
       WHERE g.id = s.grid_location_id AND s.grid_location_id = $1 AND s.brand IS NOT DISTINCT FROM $2 AND s.status = 'sending'
         AND s.lease_token = $3 AND s.attempts > 1
      RETURNING ${failedStart(`'${RELEASED.reason}'`)} AS failed
    )
    SELECT failed FROM dropped UNION ALL SELECT failed FROM released`;

const IS_EXPIRED = `status = 'sending' AND lease_until < clock_timestamp()`;

export const EXPIRED_LEASES = `SELECT lease_token AS lease FROM session_starts WHERE ${IS_EXPIRED}`;

export const FIND_EXPIRED_LEASES = `${EXPIRED_LEASES} ${FOR_ABANDONED_LEASES}`;

// Counts an orphan for each start: its call may have started a session. Skips starts that another transaction has locked.
export const END_ABANDONED_STARTS = `
    WITH abandoned AS MATERIALIZED (
      SELECT id FROM session_starts WHERE ${IS_EXPIRED} AND lease_token = ANY ($1) FOR UPDATE SKIP LOCKED
    )
    UPDATE session_starts s
       SET status = 'failed', orphans = s.orphans + 1, last_error = '${ABANDONED.error}', updated_at = clock_timestamp()
      FROM abandoned, ${PLACE_OF_START} WHERE s.id = abandoned.id AND g.id = s.grid_location_id
    RETURNING ${failedStart(`'${ABANDONED.reason}'`)} AS failed`;
