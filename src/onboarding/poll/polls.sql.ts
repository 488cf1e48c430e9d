import { mayAct } from '../../access/acting-caller.js';
import { prepared } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { CHECKED_AT } from '../store/sessions.sql.js';
import { IS_OPEN, STRETCH } from './read-budget.store.js';
import { LANE_STARTS_SECONDS, LANES } from './lanes.rules.js';

// The states of a row, its lease and its fence are described at the head of poller.ts.

/** Inserts a batch. Returns one claim time for all its sessions, since parsing one per session would take a microsecond each. */
export const OPEN_BATCH = prepared('onboarding.open_poll_batch')`
    INSERT INTO poll_batches (worker, size, lease_until)
    VALUES ($1, $2, ${msFromNow('$3')})
    RETURNING id::text AS "batchId", claimed_at AS now, ${STRETCH} AS stretch`;

const CLAIMED_COLUMNS = `
           p.session_id AS "sessionId", p.user_id AS "userId", p.due_at::text AS "dueAt", p.phase, p.anchor_at AS "anchorAt",
           p.failures, p.not_found AS "notFound", p.not_found_since AS "notFoundSince", p.look_again_at AS "lookAgainAt", p.older_since AS "olderSince", encode(p.answer_hash, 'hex') AS "responseHash", encode(p.facts_hash, 'hex') AS "factsHash",
           s.expires_at AS "expiresAt", s.recorded_at AS "recordedAt", s.brand`;

// OFFSET 0 prevents a hash join, which scanned all 20,000 sessions to find 500 and took two thirds of the statement's time.
// A look-up by primary key takes 3 µs per session, whatever the size of the table.
const SESSION_OF_POLL = `
    LATERAL (SELECT expires_at, recorded_at, brand FROM onboarding_sessions WHERE id = p.session_id OFFSET 0) s`;

/** Returns the condition that no live batch has claimed the row. The array of live batches is small and computed once. */
// Rejected: an anti-join, which may become a hash join and lose the order of the index.
const NOT_CLAIMED = (batchId: string) =>
  `(${batchId} IS NULL OR ${batchId} <> ALL (ARRAY(SELECT id FROM poll_batches)))`;

/** The lane of row `q`, as in session_polls_lane_idx. planned_at is later than claimed_at only after a read that failed or was lost. */
const LANE = `width_bucket(q.due_at - greatest(q.claimed_at, q.planned_at), '{${LANE_STARTS_SECONDS.map((start) => `${start} s`).join()}}'::interval[])`;

const ALL_LANES = `(VALUES ${LANES.map(
  ({ lane, longestSeconds, lateAfterSeconds }) =>
    `(${lane}, interval '${longestSeconds} s', interval '${lateAfterSeconds} s')`,
).join()}) AS l(lane, longest, late_after)`;

/** Selects the due rows `q` of lane `l`. IN_ORDER sorts them, the longest overdue first. */
// Compares lane and due_at as one row, so that only the index on lanes fits: another index would pass the due rows of all other lanes.
// The subquery hides the time from the planner. Otherwise the planner trusts old statistics of due_at, expects almost no due rows and sorts
// the whole backlog (54 ms for 500 of 14,500 rows). With the subquery, it expects a third of the table and walks the index (2 to 6 ms).
const DUE_OF_LANE = `session_polls q
           WHERE (${LANE}, q.due_at) <= (l.lane, (SELECT now())) AND ${IS_OPEN} AND ${NOT_CLAIMED('q.batch_id')}`;
const SINCE = (time: string) => `(${LANE}, q.due_at) >= (l.lane, ${time})`;
const IN_ORDER = `ORDER BY ${LANE}, q.due_at`;

/** The lanes `l` with a due row, and when the first of each became due. */
// Without the order, the planner expects a due row soon, and reads the whole table for each lane that has none.
const LANES_WITH_DUE = `${ALL_LANES}, LATERAL (
              SELECT q.due_at FROM ${DUE_OF_LANE} AND ${SINCE("'-infinity'")} ${IN_ORDER} LIMIT 1) head`;

/** Whether a session is due. */
export const ANY_DUE = `SELECT FROM ${LANES_WITH_DUE}`;

/** Locks and returns at most $2 due sessions: first at most $1 fresh ones, then any others. See lanes.rules.ts. */
// The parts are MATERIALIZED, since a nested loop may execute a plain subquery once per row, and each execution would lock further rows.
// Uses now() instead of clock_timestamp(), since only a stable function can bound the index scan.
// A nested loop takes the lanes in their order and ends at the outer limit, so no lane is walked or locked further than needed.
export const SELECT_DUE = prepared('onboarding.select_due_polls')`
    WITH fresh AS MATERIALIZED (
      SELECT q.* FROM ${ALL_LANES}, LATERAL (
          SELECT q.* FROM ${DUE_OF_LANE} AND ${SINCE('(SELECT now()) - l.late_after')}
           ${IN_ORDER} LIMIT $1 FOR UPDATE SKIP LOCKED) q
       LIMIT $1
    ), latest AS MATERIALIZED (
      SELECT q.* FROM (
          SELECT l.lane FROM ${LANES_WITH_DUE}
           ORDER BY extract(epoch FROM now() - head.due_at) / extract(epoch FROM l.longest) DESC) l, LATERAL (
          SELECT q.* FROM ${DUE_OF_LANE} AND ${SINCE("'-infinity'")} AND q.session_id NOT IN (SELECT session_id FROM fresh)
           ${IN_ORDER} LIMIT $2 FOR UPDATE SKIP LOCKED) q
       LIMIT $2 - (SELECT count(*) FROM fresh))
    SELECT ${CLAIMED_COLUMNS} FROM (SELECT 1 AS part, * FROM fresh UNION ALL SELECT 2, * FROM latest) p, ${SESSION_OF_POLL}
     ORDER BY p.part, p.due_at`;

/** Whether all reads of sessions that are not closed fit the budget. */
const HAS_ROOM =
  'NOT EXISTS (SELECT FROM read_budget WHERE stretch > 1 OR wanted_per_second >= allowed_per_second)';
const SETTLED = `session_polls q WHERE q.phase = 'watching'`;
const DUE_SETTLED = `${SETTLED} AND q.due_at <= (SELECT now()) AND ${NOT_CLAIMED('q.batch_id')} AND ${HAS_ROOM}`;

/** The settled session that is due first. The order makes PostgreSQL walk the index: of all rows, almost none is due. */
const FIRST_SETTLED = `(SELECT q.due_at, q.batch_id FROM ${SETTLED} ORDER BY q.due_at LIMIT 1) q`;

/** Whether a settled session is due, and may be read. */
export const ANY_SETTLED_DUE = `SELECT FROM ${FIRST_SETTLED} WHERE q.due_at <= now() AND ${NOT_CLAIMED('q.batch_id')} AND ${HAS_ROOM}`;

/** Locks and returns at most $1 due sessions that are settled. They have an index of their own, which no other claim walks. */
export const SELECT_SETTLED = prepared('onboarding.select_settled_polls')`
    SELECT ${CLAIMED_COLUMNS}
      FROM (SELECT q.* FROM ${DUE_SETTLED} ORDER BY q.due_at LIMIT $1 FOR UPDATE SKIP LOCKED) p, ${SESSION_OF_POLL}`;

export const ANY_SETTLED = `SELECT FROM ${FIRST_SETTLED}`;

/** Deletes polls, and stores the time of the last read in their sessions. `chosen`: SQL for the ids of the sessions, which are locked. */
const endWatch = (chosen: string): string => `
    WITH ended AS (
      DELETE FROM session_polls WHERE session_id IN (${chosen}) RETURNING session_id, batch_id, claimed_at, checked_at
    ), kept AS (
      UPDATE onboarding_sessions s SET last_checked_at = ${CHECKED_AT}
        FROM ended p LEFT JOIN poll_batches b ON b.id = p.batch_id
       WHERE s.id = p.session_id AND s.last_checked_at < ${CHECKED_AT}
    )
    SELECT session_id FROM ended`;

/** Ends the watch of at most $1 settled sessions. */
export const STOP_SETTLED = endWatch(`
      SELECT q.session_id FROM onboarding_sessions s, ${SETTLED} AND s.id = q.session_id
       ORDER BY q.due_at LIMIT $1 FOR UPDATE SKIP LOCKED`);

/** Ends the watch of the sessions $1. */
export const END_WATCHES = endWatch('SELECT unnest($1::uuid[])');

// CLAIM_POLLS skips the session if another batch has claimed it.
export const SELECT_ONE = prepared('onboarding.select_one_poll')`
    SELECT ${CLAIMED_COLUMNS} FROM session_polls p, ${SESSION_OF_POLL}
     WHERE p.session_id = $1
       FOR UPDATE OF p`;

/** Claims rows that the preceding SELECT has locked. */
// This is a separate statement, so that its snapshot includes a batch that another worker committed while the SELECT waited for its locks.
// The subqueries hide the array lengths. Otherwise the planner scans the table (500 of 20,000 rows: 11 ms; by primary key 4 ms).
export const CLAIM_POLLS = prepared('onboarding.claim_polls')`
    UPDATE session_polls p
       SET batch_id = $1, due_at = ${msFromNow('c.next_ms')}, checked_at = p.claimed_at, claimed_at = clock_timestamp(),
           last_error = CASE WHEN p.failures > 0 THEN p.last_error END
      FROM unnest((SELECT $2::uuid[]), (SELECT $3::float8[])) AS c(session_id, next_ms)
     WHERE p.session_id = c.session_id
       AND ${NOT_CLAIMED('p.batch_id')}
    RETURNING p.session_id AS "sessionId"`;

export const RENEW_LEASES = `
    UPDATE poll_batches SET lease_until = ${msFromNow('$2')}
     WHERE id = ANY($1::bigint[])
    RETURNING id::text`;

export const CLOSE_BATCHES = `DELETE FROM poll_batches WHERE id = ANY($1::bigint[])`;

export const EXPIRED_BATCHES = 'SELECT id FROM poll_batches WHERE lease_until < clock_timestamp()';

export const DELETE_EXPIRED_BATCHES = `
    DELETE FROM poll_batches WHERE id IN (${EXPIRED_BATCHES} FOR UPDATE SKIP LOCKED)
    RETURNING id::text`;

/** Makes the sessions of expired batches due. batch_id has no index, since every poll would update it for this rare statement. */
export const RELEASE_BATCHES = `
    UPDATE session_polls SET due_at = least(due_at, clock_timestamp()), claimed_at = checked_at, planned_at = claimed_at, batch_id = NULL
     WHERE batch_id = ANY($1::bigint[])`;

/** The interval that decides the lane: the one planned at the claim, or the wait before the retry if that is longer. */
const INTERVAL = `greatest(f."retryMs" * interval '1 millisecond', p.due_at - p.claimed_at)`;
const DUE = `CASE WHEN f."retryMs" = 0 THEN f."dueAt" ELSE least(f."dueAt" + ${INTERVAL}, ${msFromNow('f."retryMs"')}) END`;
/** The part of RECORD_FAILURES that a fault test replaces with a seeded bug. */
export const STAYS_LATE = `planned_at = CASE WHEN f."retryMs" = 0 THEN p.planned_at ELSE ${DUE} - ${INTERVAL} END, due_at = ${DUE}`;

/** Keeps the time of the first failure since the last good read. A session that is only released from a queue has no error. */
const BEGAN_TO_FAIL = `failing_since = CASE WHEN f.error IS NULL OR p.failing_since > p.checked_at THEN p.failing_since ELSE clock_timestamp() END`;

/**
 * Records reads without a usable response. Resets `claimed_at` to the last successful read. `failures` null: one more failure. If no request
 * was sent (`retryMs` is 0), the session is due at `dueAt` again, else one interval after `dueAt`, but at most `retryMs` from now.
 */
// Rejected: to make refused sessions due again after a pause. With a remote limit of 20 reads per second, each refusal moved a session to
// the back of its lane or into the lane of the pause, where it delayed fresh sessions: a change was noticed after 17 s instead of 2 s.
export const RECORD_FAILURES = prepared('onboarding.record_poll_failures')`
    UPDATE session_polls p
       SET failures = coalesce(f.failures, p.failures + 1), ${BEGAN_TO_FAIL}, not_found = f."notFound", not_found_since = f."notFoundSince",
           last_error = coalesce(f.error, p.last_error), claimed_at = p.checked_at,
           ${STAYS_LATE}
      FROM jsonb_to_recordset($1::jsonb)
        AS f("sessionId" uuid, "batchId" bigint, failures int, "notFound" int, "notFoundSince" timestamptz, error text, "retryMs" float8, "dueAt" timestamptz)
     WHERE p.session_id = f."sessionId" AND p.batch_id = f."batchId"`;

/**
 * Reschedules sessions after a change, or after a successful read that follows failures. The caller has locked the sessions and checked
 * their batch, if any. `isRecorded`: whether the response is now the last recorded one.
 */
export const RESCHEDULE = prepared('onboarding.reschedule_polls')`
    UPDATE session_polls p
       SET phase = r.phase, anchor_at = r."anchorAt", ending_since = r."endingSince", ending_reads = r."endingReads",
           changes_clear_at = r."changesClearAt", flapping_since = r."flappingSince",
           answer_hash = CASE WHEN r."isRecorded" THEN decode(r.hash, 'hex') ELSE p.answer_hash END,
           facts_hash = CASE WHEN r."isRecorded" THEN decode(r."factsHash", 'hex') ELSE p.facts_hash END,
           look_again_at = r."lookAgainAt", older_since = r."olderSince", failures = 0, failing_since = NULL, not_found = 0, not_found_since = NULL,
           last_error = NULL,
           due_at = ${msFromNow('r."nextMs"')}
      FROM jsonb_to_recordset($1::jsonb)
        AS r("sessionId" uuid, phase text, "anchorAt" timestamptz, "endingSince" timestamptz, "endingReads" int,
             "changesClearAt" timestamptz, "flappingSince" timestamptz, "lookAgainAt" timestamptz, "olderSince" timestamptz, "isRecorded" boolean, hash text, "factsHash" text, "nextMs" float8)
     WHERE p.session_id = r."sessionId"`;

// Locks the session, so that either this statement sees a concurrent erasure or the erasure sees the poll.
export const WATCH_CLOSED = `
    WITH readable AS MATERIALIZED (
      SELECT * FROM onboarding_sessions WHERE id = $1 AND close_reason IS DISTINCT FROM 'erased' AND ${mayAct('$3')} FOR UPDATE
    ), watched AS (
      INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
      SELECT id, user_id, clock_timestamp(), last_checked_at, last_checked_at, $2, state_changed_at
        FROM readable WHERE closed_at IS NOT NULL
      ON CONFLICT DO NOTHING
    )
    SELECT id FROM readable`;

// If another batch has claimed the poll, keeps it for the read of that batch. A settled session is read again later.
export const STOP_CLOSED_POLL = `
    DELETE FROM session_polls p USING onboarding_sessions s
     WHERE p.session_id = $1 AND p.batch_id = $2::bigint AND s.id = p.session_id AND s.closed_at IS NOT NULL AND p.phase <> 'watching'`;

export const STOP_POLLS = `DELETE FROM session_polls WHERE session_id = ANY($1::uuid[])`;
