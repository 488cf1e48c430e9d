import { lastSequence } from '../../events/sequence.sql.js';
import { encryptedColumn } from '../../platform/crypto/re-encryption.store.js';
import { prepared, type Transaction } from '../../platform/database/database.js';
import { stallOf } from '../../stalls/stalls.sql.js';
import { STRETCH } from '../poll/read-budget.store.js';
import { OPEN_STATES } from '../rules/machine.rules.js';
import type { RecordedResponse } from '../rules/reconcile.rules.js';

export const START_URLS = {
  ...encryptedColumn('onboarding_sessions', 'start_url_ciphertext'),
  // Samples the sessions that changed last: of a million sessions, few have a startUrl.
  sample: `
    SELECT start_url_ciphertext AS ciphertext
    FROM (SELECT start_url_ciphertext FROM onboarding_sessions ORDER BY changed_at DESC LIMIT $1) AS changed
    WHERE start_url_ciphertext IS NOT NULL`,
};

export const SELECT_RECORD = `
    SELECT s.id, s.user_id AS "userId", s.grid_location_id AS "gridLocationId", u.tenant_reference AS "tenantReference",
           s.brand, s.metadata, s.state, s.basis, s.rule, s.finished, s.expired, s.started_updated_at AS "startedUpdatedAt", s.updated_at AS "updatedAt",
           s.expires_at AS "expiresAt", s.recorded_at AS "recordedAt", s.changed_at AS "changedAt", s.closed_at AS "closedAt", s.close_reason AS "closeReason",
           p.anchor_at AS "anchorAt", p.older_since AS "olderSince", p.batch_id::text AS "batchId", encode(p.answer_hash, 'hex') AS "responseHash",
           p.ending_since AS "endingSince", coalesce(p.ending_reads, 0) AS "endingReads",
           p.changes_clear_at AS "changesClearAt", p.flapping_since AS "flappingSince",
           coalesce((SELECT json_agg(json_build_object('id', i.id, 'missing', i.missing_since IS NOT NULL,
                                                'absentMs', extract(epoch FROM clock_timestamp() - i.absent_since) * 1000))
                       FROM inverters i WHERE i.session_id = s.id), '[]') AS inverters,
           clock_timestamp() AS now, ${STRETCH} AS stretch
      FROM onboarding_sessions s
      JOIN users u ON u.id = s.user_id`;

export const LOCK_SESSIONS_OF_USER = `${SELECT_RECORD} LEFT JOIN session_polls p ON p.session_id = s.id WHERE s.user_id = $1 ORDER BY s.id FOR UPDATE OF s`;

/** Locks sessions and their polls in the order of their ids, to avoid deadlocks. Phases, transitions and events use the returned `now`. */
export const LOCK_SESSIONS = prepared('onboarding.lock_sessions')`
    ${SELECT_RECORD} JOIN session_polls p ON p.session_id = s.id WHERE s.id = ANY($1::uuid[]) ORDER BY s.id FOR UPDATE OF s, p`;

/** The only statement that changes the state of recorded sessions. The caller has locked the sessions and checked their batch, if any. */
// Deletes the startUrl of an online, expired or closed session. Keeps the startUrl of a lost or unrecognised session, which may open again.
export const MOVE_SESSIONS = prepared('onboarding.move_sessions')`
    UPDATE onboarding_sessions s
       SET state = m.state, basis = m.basis, rule = m.rule,
           state_changed_at = CASE WHEN s.state = m.state THEN s.state_changed_at ELSE m.at END,
           finished = CASE WHEN m."isObserved" THEN m.finished ELSE s.finished END,
           active = CASE WHEN m."isObserved" THEN m.active ELSE s.active END,
           expired = coalesce(m.expired, s.expired),
           updated_at = coalesce(m."updatedAt", s.updated_at), expires_at = coalesce(m."expiresAt", s.expires_at),
           start_url_ciphertext = CASE WHEN m.state NOT IN ('online', 'expired') AND m."closeReason" IS NULL
                                       THEN s.start_url_ciphertext END,
           closed_at = CASE WHEN m."isReopened" THEN NULL
                            ELSE coalesce(s.closed_at, CASE WHEN m."closeReason" IS NOT NULL THEN m.at END) END,
           close_reason = CASE WHEN m."isReopened" THEN NULL ELSE coalesce(s.close_reason, m."closeReason") END,
           last_checked_at = m.at, changed_at = m.at
      FROM jsonb_to_recordset($1::jsonb) AS m("sessionId" uuid, "from" text, state text, basis text, rule text,
             "isObserved" boolean, finished boolean, active boolean, expired boolean, "updatedAt" timestamptz, "expiresAt" timestamptz,
             "closeReason" text, "isReopened" boolean, at timestamptz)
     WHERE s.id = m."sessionId" AND s.state = m."from"
    RETURNING s.id`;

/** Inserts the bodies as received; Prisma Client would parse and rewrite them. */
const INSERT_OBSERVATIONS = prepared('onboarding.insert_observations')`
    INSERT INTO session_observations (session_id, source, http_status, body, hash)
    SELECT o."sessionId", 'read', o."httpStatus", o.body::json, decode(o.hash, 'hex')
      FROM jsonb_to_recordset($1::jsonb) AS o("sessionId" uuid, "httpStatus" int, body text, hash text)
    RETURNING id::text, session_id AS "sessionId"`;

export const INSERT_TRANSITIONS = prepared('onboarding.insert_transitions')`
    INSERT INTO session_transitions (session_id, from_state, to_state, basis, rule, observation_id, at)
    SELECT * FROM jsonb_to_recordset($1::jsonb)
      AS t("sessionId" uuid, "from" text, state text, basis text, rule text, "observationId" bigint, at timestamptz)`;

export const UPSERT_INVERTERS = prepared('onboarding.upsert_inverters')`
    INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at)
    SELECT i."sessionId", i.id, i.at, i.at FROM jsonb_to_recordset($1::jsonb) AS i("sessionId" uuid, id uuid, at timestamptz)
    ON CONFLICT (session_id, id) DO UPDATE SET last_seen_at = excluded.last_seen_at, absent_since = NULL, missing_since = NULL`;

/** Marks inverters as absent at `at`, or as present if it is null. An absent one was last seen by the previous successful read. */
export const MARK_ABSENT = `
    UPDATE inverters i
       SET absent_since = m.at, last_seen_at = CASE WHEN m.at IS NULL THEN i.last_seen_at ELSE greatest(i.last_seen_at, p.checked_at) END
      FROM jsonb_to_recordset($1::jsonb) AS m("sessionId" uuid, id uuid, at timestamptz)
      JOIN session_polls p ON p.session_id = m."sessionId"
     WHERE i.session_id = m."sessionId" AND i.id = m.id AND i.missing_since IS NULL`;

/** Marks absent inverters as missing. */
export const MISS_INVERTERS = `
    UPDATE inverters i SET missing_since = coalesce(i.absent_since, m.at)
      FROM jsonb_to_recordset($1::jsonb) AS m("sessionId" uuid, id uuid, at timestamptz)
     WHERE i.session_id = m."sessionId" AND i.id = m.id AND i.missing_since IS NULL`;

export const SQL_OPEN_STATES = `('${OPEN_STATES.join("', '")}')`;

const IS_ONLINE = `state = 'online' AND close_reason IS DISTINCT FROM 'erased'`;

/** Selects the current session that is open and has a startUrl. */
// A session that awaits the owner must have a minute left by the database's clock, or half of its lifetime if that is shorter. An expiresAt
// that had passed when we recorded the session as active is ignored.
const IS_OPEN = `
  superseded_at IS NULL AND closed_at IS NULL
  AND state IN ${SQL_OPEN_STATES} AND start_url_ciphertext IS NOT NULL
  AND (state <> 'awaiting_owner' OR expires_at <= recorded_at
       OR expires_at > clock_timestamp() + least(interval '1 minute', (expires_at - recorded_at) / 2))`;

/** Whether the remote service no longer lists any of the inverters of online session `s`. */
export const HAS_LOST_ALL = `
  (s.state = 'online' AND EXISTS (SELECT FROM inverters l WHERE l.session_id = s.id)
   AND NOT EXISTS (SELECT FROM inverters l WHERE l.session_id = s.id AND l.missing_since IS NULL))`;

/**
 * Returns the session that a repeated start of location $1 and brand $2 gets: an online session, watched or not, or the open one. If $3 is
 * `connected`, a session counts as online only while one of its inverters is listed.
 */
// Of several sessions, returns the latest: an online session counts from when it came online, an open session from its start.
export const SESSION_TO_REUSE = `
    SELECT id FROM onboarding_sessions s
     WHERE grid_location_id = $1 AND brand IS NOT DISTINCT FROM $2
       AND ((${IS_ONLINE} AND ($3 <> 'connected' OR NOT ${HAS_LOST_ALL})) OR (${IS_OPEN}))
     ORDER BY CASE state WHEN 'online' THEN state_changed_at ELSE recorded_at END DESC, id LIMIT 1`;

/** The time of the last successful read of session `s`, from its poll `p` and its batch `b`. A read counts once its batch is closed. */
export const CHECKED_AT = `
  CASE WHEN p.session_id IS NULL THEN s.last_checked_at WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END`;

/** When inverter `i` was last seen: unless absent or missing, at the last good read of its session, but not before first_seen_at. */
export const LAST_SEEN_AT = `
  greatest(i.first_seen_at, CASE WHEN i.absent_since IS NOT NULL OR i.missing_since IS NOT NULL THEN i.last_seen_at ELSE ${CHECKED_AT} END)`;

export const JOIN_POLL = `
      LEFT JOIN session_polls p ON p.session_id = s.id
      LEFT JOIN poll_batches b ON b.id = p.batch_id`;

const selectFrom = (sessions: string): string => `
    SELECT s.id, s.user_id AS "userId", s.grid_location_id AS "gridLocationId", u.tenant_reference AS "tenantReference",
           s.brand, s.metadata, s.state, s.basis, s.finished, s.active, s.expired,
           s.start_url_ciphertext AS "startUrlCiphertext", s.created_at AS "createdAt", s.updated_at AS "updatedAt",
           s.expires_at AS "expiresAt", s.closed_at AS "closedAt", s.changed_at AS "changedAt",
           s.state_changed_at AS "stateChangedAt", s.superseded_at AS "supersededAt",
           (SELECT min(t.at) FROM session_transitions t WHERE t.session_id = s.id AND t.to_state = 'online') AS "onlineAt",
           ${CHECKED_AT} AS "checkedAt",
           ${stallOf('session', 's.id')} AS stalled,
           p.due_at AS "nextCheckAt", clock_timestamp() AS now, ${lastSequence('s.id::text')} AS sequence,
           coalesce((SELECT json_agg(json_build_object('id', i.id, 'firstSeenAt', i.first_seen_at, 'lastSeenAt', ${LAST_SEEN_AT},
                                                       'missingSince', i.missing_since) ORDER BY i.first_seen_at, i.id)
                       FROM inverters i WHERE i.session_id = s.id), '[]') AS inverters
      FROM ${sessions} s
      JOIN users u ON u.id = s.user_id ${JOIN_POLL}`;

export const SELECT_SESSION = selectFrom('onboarding_sessions');

/** Reads the other tables for the rows of the page alone. */
export const selectSessions = (page: string, order: string): string =>
  `${selectFrom(`(SELECT * FROM onboarding_sessions s ${page})`)} ${order}`;

/** A prepared statement, because it is by far the most frequent query. */
export const FIND_SESSION = prepared('onboarding.find_session')`${SELECT_SESSION} WHERE s.id = $1`;

/** Finds the startUrl of one of the sessions that have changed last. Reads at most 100 entries of the index. */
export const FIND_NEWEST_START_URL = `
    SELECT id, ciphertext FROM (
      SELECT id, changed_at, start_url_ciphertext AS ciphertext FROM onboarding_sessions ORDER BY changed_at DESC, id DESC LIMIT 100
    ) changed WHERE ciphertext IS NOT NULL ORDER BY changed_at DESC LIMIT 1`;

export async function insertObservations(
  tx: Transaction,
  rows: readonly (RecordedResponse & { readonly sessionId: string })[],
): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map();
  const inserted = await tx.query<{ id: string; sessionId: string }>(INSERT_OBSERVATIONS, [
    JSON.stringify(rows),
  ]);
  return new Map(inserted.map(({ sessionId, id }) => [sessionId, id]));
}
