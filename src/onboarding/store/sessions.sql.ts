import type { Statement } from '../../platform/database/database.js';
import { instantOf } from '../../platform/database/timestamps.js';

const SELECT_RECORD = `
    SELECT s.id, s.user_id AS "userId", s.grid_location_id AS "gridLocationId", u.tenant_reference AS "tenantReference",
           s.brand, s.metadata, s.state, s.basis, s.rule, s.finished, s.started_updated_at AS "startedUpdatedAt",
           s.expires_at AS "expiresAt", s.recorded_at AS "recordedAt", s.changed_at AS "changedAt", s.closed_at AS "closedAt",
           p.anchor_at AS "anchorAt", p.batch_id::text AS "batchId", p.ending_since AS "endingSince",
           coalesce(p.ending_reads, 0) AS "endingReads", p.changes_clear_at AS "changesClearAt", p.flapping_since AS "flappingSince",
           coalesce((SELECT json_agg(json_build_object('id', i.id, 'missing', i.missing_since IS NOT NULL))
                       FROM inverters i WHERE i.session_id = s.id), '[]') AS inverters,
           clock_timestamp() AS now
      FROM onboarding_sessions s
      JOIN users u ON u.id = s.user_id`;

export const LOCK_SESSIONS_OF_USER: Statement = {
  name: 'lock_sessions_of_user',
  text: `${SELECT_RECORD} LEFT JOIN session_polls p ON p.session_id = s.id WHERE s.user_id = $1 ORDER BY s.id FOR UPDATE OF s`,
};

/**
 * Locks sessions and their polls, whose batch_id is the fence. In the order of their ids, so that two transactions with common sessions
 * cannot deadlock. `now` is the database's clock, the only clock for leases, phases and events.
 */
export const LOCK_SESSIONS: Statement = {
  name: 'lock_sessions',
  text: `${SELECT_RECORD} JOIN session_polls p ON p.session_id = s.id WHERE s.id = ANY($1::uuid[]) ORDER BY s.id FOR UPDATE OF s, p`,
};

/**
 * Locks sessions, including those no longer watched, for a change that comes from no read and so has no batch. Excludes sessions of
 * erased users. The condition is on the locked row itself: after a wait for its lock PostgreSQL reads only that row again, and the joined
 * user may date from before the erasure.
 */
export const LOCK_ANY_SESSIONS: Statement = {
  name: 'lock_any_sessions',
  text: `${SELECT_RECORD} LEFT JOIN session_polls p ON p.session_id = s.id
     WHERE s.id = ANY($1::uuid[]) AND s.close_reason IS DISTINCT FROM 'erased' ORDER BY s.id FOR UPDATE OF s`,
};

export const INSERT_OBSERVATIONS: Statement = {
  name: 'insert_observations',
  text: `
    INSERT INTO session_observations (session_id, source, http_status, body, hash)
    SELECT o.session_id, o.source, o.http_status, o.body::json, decode(o.hash, 'hex')
      FROM jsonb_to_recordset($1::jsonb) AS o(session_id uuid, source text, http_status int, body text, hash text)
    RETURNING id::text, session_id AS "sessionId"`,
};

/** Replaces the last observation of each session by one with the same facts in other bytes. */
export const REPLACE_OBSERVATIONS: Statement = {
  name: 'replace_observations',
  text: `
    UPDATE session_observations o
       SET http_status = n.http_status, body = n.body::json, hash = decode(n.hash, 'hex'), observed_at = clock_timestamp()
      FROM jsonb_to_recordset($1::jsonb) AS n(session_id uuid, source text, http_status int, body text, hash text)
     WHERE o.id = (SELECT max(id) FROM session_observations WHERE session_id = n.session_id)`,
};

/**
 * Writes the state of existing sessions; no other statement does (KEEP_STARTED_SESSION writes the initial one). It names the state that
 * it leaves. The caller holds the lock of LOCK_SESSIONS and has checked the batch, or holds the lock of LOCK_ANY_SESSIONS. startUrl is
 * deleted when the session is online, expired or closed, but not when it is lost or unrecognised: it may be open again at the next read.
 */
export const MOVE_SESSIONS: Statement = {
  name: 'move_sessions',
  text: `
    UPDATE onboarding_sessions s
       SET state = m.to_state, basis = m.basis, rule = m.rule,
           state_changed_at = CASE WHEN s.state = m.to_state THEN s.state_changed_at ELSE m.at END,
           finished = CASE WHEN m.observed THEN m.finished ELSE s.finished END,
           active = CASE WHEN m.observed THEN m.active ELSE s.active END,
           expired = CASE WHEN m.observed THEN m.expired ELSE s.expired END,
           updated_at = coalesce(${instantOf('m.updated_ms')}, s.updated_at), expires_at = coalesce(${instantOf('m.expires_ms')}, s.expires_at),
           start_url_ciphertext = CASE WHEN m.to_state NOT IN ('online', 'expired') AND m.close_reason IS NULL
                                       THEN s.start_url_ciphertext END,
           closed_at = CASE WHEN m.is_reopened THEN NULL
                            ELSE coalesce(s.closed_at, CASE WHEN m.close_reason IS NOT NULL THEN m.at END) END,
           close_reason = CASE WHEN m.is_reopened THEN NULL ELSE coalesce(s.close_reason, m.close_reason) END,
           last_checked_at = m.at, changed_at = m.at
      FROM jsonb_to_recordset($1::jsonb) AS m(session_id uuid, from_state text, to_state text, basis text, rule text,
             observed boolean, finished boolean, active boolean, expired boolean, updated_ms float8, expires_ms float8,
             close_reason text, is_reopened boolean, at timestamptz)
     WHERE s.id = m.session_id AND s.state = m.from_state
    RETURNING s.id`,
};

export const INSERT_TRANSITIONS: Statement = {
  name: 'insert_transitions',
  text: `
    INSERT INTO session_transitions (session_id, from_state, to_state, basis, rule, observation_id, at)
    SELECT * FROM jsonb_to_recordset($1::jsonb)
      AS t(session_id uuid, from_state text, to_state text, basis text, rule text, observation_id bigint, at timestamptz)`,
};

export const UPSERT_INVERTERS: Statement = {
  name: 'upsert_inverters',
  text: `
    INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at)
    SELECT i.session_id, i.id, i.at, i.at FROM jsonb_to_recordset($1::jsonb) AS i(session_id uuid, id uuid, at timestamptz)
    ON CONFLICT (session_id, id) DO UPDATE SET last_seen_at = excluded.last_seen_at, missing_since = NULL`,
};

/** Marks inverters as missing. An inverter was last seen at the last good read before the one that missed it. */
export const MISS_INVERTERS: Statement = {
  name: 'miss_inverters',
  text: `
    UPDATE inverters i SET missing_since = m.at, last_seen_at = greatest(i.last_seen_at, p.checked_at)
      FROM jsonb_to_recordset($1::jsonb) AS m(session_id uuid, id uuid, at timestamptz)
      JOIN session_polls p ON p.session_id = m.session_id
     WHERE i.session_id = m.session_id AND i.id = m.id AND i.missing_since IS NULL`,
};

/**
 * Returns the session whose web flow the owner can still use: open, current, with its startUrl. If it awaits the owner, it must have at
 * least one minute left.
 */
export const FIND_OPEN_SESSION: Statement = {
  name: 'find_open_session',
  text: `
    SELECT id FROM onboarding_sessions
     WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2 AND superseded_at IS NULL AND closed_at IS NULL
       AND state IN ('awaiting_owner', 'awaiting_installation') AND start_url_ciphertext IS NOT NULL
       AND (state <> 'awaiting_owner' OR expires_at > clock_timestamp() + interval '1 minute')`,
};

/** By far the most frequent query reads one session, hence a prepared statement by primary key. */
const SELECT_SESSION = `
    SELECT s.id, s.user_id AS "userId", s.grid_location_id AS "gridLocationId", u.tenant_reference AS "tenantReference",
           s.brand, s.metadata, s.state, s.basis, s.finished, s.active, s.expired,
           s.start_url_ciphertext AS "startUrlCiphertext", s.created_at AS "createdAt", s.updated_at AS "updatedAt",
           s.expires_at AS "expiresAt", s.closed_at AS "closedAt", s.changed_at AS "changedAt",
           CASE WHEN p.session_id IS NULL THEN s.last_checked_at WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END AS "checkedAt",
           p.due_at AS "nextCheckAt", clock_timestamp() AS now,
           coalesce((SELECT json_agg(json_build_object('id', i.id, 'firstSeenAt', i.first_seen_at, 'lastSeenAt', i.last_seen_at,
                                                       'missingSince', i.missing_since) ORDER BY i.first_seen_at, i.id)
                       FROM inverters i WHERE i.session_id = s.id), '[]') AS inverters
      FROM onboarding_sessions s
      JOIN users u ON u.id = s.user_id
      LEFT JOIN session_polls p ON p.session_id = s.id
      LEFT JOIN poll_batches b ON b.id = p.batch_id`;

export const FIND_SESSION: Statement = { name: 'find_session', text: `${SELECT_SESSION} WHERE s.id = $1` };

/** Returns a list query with conditions for the given filters only: one text for all filters would be planned well for none. */
export function listSessions(conditions: readonly string[], limit: number): string {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return `${SELECT_SESSION} ${where} ORDER BY s.changed_at, s.id LIMIT ${limit}`;
}

/**
 * Returns the query of a page of all sessions, from the beginning or after a position. It is prepared, because parsing and planning take
 * PostgreSQL longer than finding 50 sessions among a million. The limit is in the text: a plan for any limit would assume a tenth of the
 * table.
 */
export const listAllSessions = (position: readonly string[], limit: number): Statement => ({
  name: `list_all_sessions_${position.length === 0 ? 'first' : 'next'}_${limit}`,
  text: listSessions(position, limit),
});

export const FIND_WATCHED_STATES: Statement = {
  name: 'find_watched_states',
  text: `SELECT id, state FROM onboarding_sessions WHERE id = ANY($1::uuid[]) AND closed_at IS NULL`,
};

/** Selects sessions with all their recorded responses, oldest first. */
export const SELECT_HISTORIES: Statement = {
  name: 'select_session_histories',
  text: `
    SELECT s.id, s.state, s.rule, s.started_updated_at AS "startedUpdatedAt",
           (SELECT json_agg(json_build_object('httpStatus', o.http_status, 'body', o.body::text) ORDER BY o.id)
              FROM session_observations o WHERE o.session_id = s.id) AS answers
      FROM onboarding_sessions s
     WHERE s.id > $1 AND ($2::uuid IS NULL OR s.id = $2)
     ORDER BY s.id
     LIMIT $3`,
};
