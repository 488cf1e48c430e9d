import { prepared } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { AWAITED, CHECKED_AT, JOIN_POLL } from '../store/sessions.sql.js';

/** Claims the search for stalled sessions for $1 ms. Returns a row to one worker only. */
export const CLAIM_SEARCH = `
    UPDATE read_budget SET stalls_after = ${msFromNow('$1')}
     WHERE coalesce(stalls_after <= clock_timestamp(), true)
    RETURNING id`;

const FACTS = `
    SELECT s.id, s.brand, s.state, s.state_changed_at AS "stateChangedAt", s.recorded_at AS "recordedAt", s.expires_at AS "expiresAt",
           s.finished, s.active, s.expired, greatest(${CHECKED_AT}, p.failing_since) AS "failingSince", coalesce(p.failures, 0) AS failures,
           NOT (s.closed_at IS NULL AND s.superseded_at IS NULL) AS "isOver", x.cause, clock_timestamp() AS now`;
const JOIN_FACTS = `${JOIN_POLL}
      LEFT JOIN session_stalls x ON x.session_id = s.id`;

/** Returns at most $2 sessions after id $1, in the order of their ids: awaited sessions, and stalled ones. */
// Walks both indexes by id, so that every page costs the same, however many sessions are closed. Has no condition on times, because only
// the rule knows the thresholds.
export const FIND_AWAITED = prepared('onboarding.find_awaited_sessions')`
    WITH page AS MATERIALIZED (
      (SELECT s.id FROM onboarding_sessions s WHERE ${AWAITED} AND s.id > $1 ORDER BY s.id LIMIT $2)
      UNION (SELECT session_id FROM session_stalls WHERE session_id > $1 ORDER BY session_id LIMIT $2)
      ORDER BY 1 LIMIT $2)
    ${FACTS}
      FROM page JOIN LATERAL (SELECT * FROM onboarding_sessions WHERE id = page.id OFFSET 0) s ON true ${JOIN_FACTS}
     ORDER BY s.id`;

/** Returns the facts about sessions that the caller has locked. */
export const READ_FACTS = `${FACTS} FROM onboarding_sessions s ${JOIN_FACTS} WHERE s.id = ANY ($1::uuid[])`;

/** Writes the causes of sessions that the caller has locked. */
export const UPSERT_STALLS = `
    INSERT INTO session_stalls (session_id, cause, since, evidence)
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS r("sessionId" uuid, cause text, since timestamptz, evidence jsonb)
    ON CONFLICT (session_id) DO UPDATE
       SET cause = excluded.cause, since = excluded.since, evidence = excluded.evidence, raised_at = excluded.raised_at`;

/** Deletes the causes of sessions that the caller has locked, and returns them. */
export const DELETE_STALLS = `
    DELETE FROM session_stalls WHERE session_id = ANY ($1::uuid[])
    RETURNING session_id AS "sessionId", cause, since, evidence`;
