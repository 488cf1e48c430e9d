import type { Statement } from '../../platform/database/database.js';

/*
 * How a session is claimed, and what that costs.
 *
 * A row of session_polls holds the time at which its session is read next. A claim takes the rows that are due. It writes into each the
 * due time after this read and the batch. The batch is a row of poll_batches, and the lease of all its sessions: while it exists, no
 * other worker claims them. When all its reads are done, it is deleted. When its worker dies, the lease expires; another worker deletes
 * the batch and clears batch_id of its sessions in the same transaction. So batch_id is the fence: every write about a session names the
 * batch of its claim. A worker that was presumed dead finds another batch_id, or null, and changes nothing.
 *
 * So the claim is also the reschedule: one narrow row written per poll, and nothing for an unchanged response. A deleted batch means that
 * the read succeeded; claimed_at is then the time of the last good read. A failed read is recorded explicitly. Rejected: a lease in each
 * row, released by a second write. That costs a second update per poll, and because of the due_at index neither update is HOT.
 *
 * The price: a session is claimed again only after the slowest read of its batch. That takes SCS_TIMEOUT_MS and a wait for a turn. By
 * default this is not longer than POLL_MIN_INTERVAL_MS, before which the session is not due anyway.
 */

/** Inserts a batch and returns the time of the claim for all its sessions. A timestamp per row would cost a microsecond each to read. */
export const OPEN_BATCH: Statement = {
  name: 'open_poll_batch',
  text: `
    INSERT INTO poll_batches (worker, size, lease_until)
    VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
    RETURNING id::text, claimed_at AS now`,
};

/**
 * The session is read by a subquery. Rejected: a join. With 20,000 sessions the planner scanned their whole table for a hash join of 500,
 * which was two thirds of the statement. By primary key each session costs 3 µs, whatever the size of the table.
 */
const CLAIMED_COLUMNS = `
           p.session_id AS "sessionId", p.user_id AS "userId", p.phase, p.anchor_at AS "anchorAt", p.failures,
           p.not_found AS "notFound", encode(p.answer_hash, 'hex') AS "answerHash", encode(p.facts_hash, 'hex') AS "factsHash",
           p.answer_kept_at AS "answerKeptAt", s.expires_at AS "expiresAt", s.recorded_at AS "recordedAt"`;

/** OFFSET 0 keeps the planner from turning the subquery into a join. */
const SESSION_OF_POLL = `
    LATERAL (SELECT expires_at, recorded_at FROM onboarding_sessions WHERE id = p.session_id OFFSET 0) s`;

/**
 * Returns the condition that no live batch has claimed the row. Rejected: an anti-join, which may become a hash join and lose the order
 * of the index. The array is computed once and filters without changing the order. Live batches are few.
 */
const NOT_CLAIMED = (batchId: string) =>
  `(${batchId} IS NULL OR ${batchId} <> ALL (ARRAY(SELECT id FROM poll_batches)))`;

/**
 * Locks and returns due sessions, the longest overdue first.
 * - MATERIALIZED: a nested-loop plan may run a plain subquery again for every row of the other side, and each run would lock a further
 *   batch.
 * - now() instead of clock_timestamp(): only a stable function can bound the index scan.
 * - now() in a subquery: the planner would compare the time itself with its statistics of due_at. These hold times that have passed
 *   since, so it expects next to no due rows, and reads and sorts the whole backlog for one batch (14,500 due: 54 ms for 500, instead of
 *   2 to 6). Without the time it expects a third of the table to be due, and walks the index until the batch is full.
 */
export const SELECT_DUE: Statement = {
  name: 'select_due_polls',
  text: `
    WITH due AS MATERIALIZED (
      SELECT * FROM session_polls q
       WHERE q.due_at <= (SELECT now())
         AND ${NOT_CLAIMED('q.batch_id')}
       ORDER BY q.due_at
       LIMIT $1
         FOR UPDATE SKIP LOCKED)
    SELECT ${CLAIMED_COLUMNS} FROM due p, ${SESSION_OF_POLL} ORDER BY p.due_at`,
};

/** Locks and returns one session, due or not. CLAIM skips it if it is being read. */
export const SELECT_ONE: Statement = {
  name: 'select_one_poll',
  text: `
    SELECT ${CLAIMED_COLUMNS} FROM session_polls p, ${SESSION_OF_POLL}
     WHERE p.session_id = $1
       FOR UPDATE OF p`,
};

/**
 * Claims rows that the preceding SELECT has locked. As a separate statement it sees what committed while the SELECT waited for its locks:
 * a batch that another worker opened on the same row is visible here, though perhaps not to the SELECT.
 *
 * The subqueries hide the lengths of the arrays from the planner. Otherwise, for 500 of 20,000 rows, it scans the whole table, which
 * takes 11 of 17 ms. The SELECT has just read these rows, and the primary key finds them in 4 ms.
 */
export const CLAIM: Statement = {
  name: 'claim_polls',
  text: `
    UPDATE session_polls p
       SET batch_id = $1, due_at = clock_timestamp() + c.next_ms * interval '1 millisecond', checked_at = p.claimed_at, claimed_at = clock_timestamp(),
           last_error = CASE WHEN p.failures > 0 THEN p.last_error END
      FROM unnest((SELECT $2::uuid[]), (SELECT $3::float8[])) AS c(session_id, next_ms)
     WHERE p.session_id = c.session_id
       AND ${NOT_CLAIMED('p.batch_id')}
    RETURNING p.session_id AS "sessionId"`,
};

export const EXTEND_LEASES: Statement = {
  name: 'extend_poll_leases',
  text: `
    UPDATE poll_batches SET lease_until = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE id = ANY($1::bigint[])
    RETURNING id::text`,
};

export const CLOSE_BATCHES: Statement = {
  name: 'close_poll_batches',
  text: `DELETE FROM poll_batches WHERE id = ANY($1::bigint[])`,
};

export const DELETE_EXPIRED_BATCHES: Statement = {
  name: 'delete_expired_poll_batches',
  text: `
    DELETE FROM poll_batches
     WHERE id IN (SELECT id FROM poll_batches WHERE lease_until < clock_timestamp() FOR UPDATE SKIP LOCKED)
    RETURNING id::text`,
};

/**
 * Makes the sessions of expired batches due. No index leads from a batch to its sessions: it would be written at every poll but used only
 * after a crash.
 */
export const RELEASE_BATCHES: Statement = {
  name: 'release_poll_batches',
  text: `
    UPDATE session_polls SET due_at = least(due_at, clock_timestamp()), claimed_at = checked_at, batch_id = NULL
     WHERE batch_id = ANY($1::bigint[])`,
};

/** Records reads without a usable response: sets `failures` and `not_found` as given and leaves the last good read unchanged. */
export const RECORD_FAILURES: Statement = {
  name: 'record_poll_failures',
  text: `
    UPDATE session_polls p
       SET failures = f.failures, not_found = f.not_found, last_error = f.last_error, claimed_at = p.checked_at,
           due_at = clock_timestamp() + f.retry_ms * interval '1 millisecond'
      FROM jsonb_to_recordset($1::jsonb)
        AS f(session_id uuid, batch_id bigint, failures int, not_found int, last_error text, retry_ms float8)
     WHERE p.session_id = f.session_id AND p.batch_id = f.batch_id`,
};

/**
 * Reschedules sessions after a response that changed something or that ended a series of failures. `kept`: the response is now the last
 * observation.
 */
export const RESCHEDULE: Statement = {
  name: 'reschedule_polls',
  text: `
    UPDATE session_polls p
       SET phase = r.phase, anchor_at = r.anchor_at, ending_since = r.ending_since, ending_reads = r.ending_reads,
           changes_clear_at = r.changes_clear_at, flapping_since = r.flapping_since,
           answer_hash = CASE WHEN r.kept THEN decode(r.hash, 'hex') ELSE p.answer_hash END,
           facts_hash = CASE WHEN r.kept THEN decode(r.facts_hash, 'hex') ELSE p.facts_hash END,
           answer_kept_at = CASE WHEN r.kept THEN clock_timestamp() ELSE p.answer_kept_at END,
           failures = 0, not_found = 0, last_error = NULL,
           due_at = clock_timestamp() + r.next_ms * interval '1 millisecond'
      FROM jsonb_to_recordset($1::jsonb)
        AS r(session_id uuid, batch_id bigint, phase text, anchor_at timestamptz, ending_since timestamptz, ending_reads int,
             changes_clear_at timestamptz, flapping_since timestamptz, kept boolean, hash text, facts_hash text, next_ms float8)
     WHERE p.session_id = r.session_id AND p.batch_id IS NOT DISTINCT FROM r.batch_id`,
};

/**
 * Makes a closed session due now, for a single read. Returns no row if the session is unknown or erased; an erased session is never read
 * again. Its row is locked: either the erasure is seen here, or the erasure finds the poll.
 */
export const WATCH_CLOSED: Statement = {
  name: 'watch_closed_session',
  text: `
    WITH readable AS MATERIALIZED (
      SELECT * FROM onboarding_sessions WHERE id = $1 AND close_reason IS DISTINCT FROM 'erased' FOR UPDATE
    ), watched AS (
      INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
      SELECT id, user_id, clock_timestamp(), last_checked_at, last_checked_at, $2, state_changed_at
        FROM readable WHERE closed_at IS NOT NULL
      ON CONFLICT DO NOTHING
    )
    SELECT id FROM readable`,
};

/**
 * Deletes the poll of a closed session after a failed read. The batch is the fence: another read may be about to reopen the session,
 * which must stay watched.
 */
export const STOP_CLOSED_POLL: Statement = {
  name: 'stop_poll_of_closed_session',
  text: `
    DELETE FROM session_polls p USING onboarding_sessions s
     WHERE p.session_id = $1 AND p.batch_id = $2::bigint AND s.id = p.session_id AND s.closed_at IS NOT NULL`,
};

export const STOP_POLLS: Statement = {
  name: 'stop_polls',
  text: `DELETE FROM session_polls WHERE session_id = ANY($1::uuid[])`,
};
