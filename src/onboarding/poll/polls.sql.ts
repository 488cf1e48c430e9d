import type { Statement } from '../../platform/database/database.js';

/*
 * How a session is claimed, and what that costs.
 *
 * A row of session_polls says when its session is read next. A claim takes the rows that are due, writes into each when it will be
 * due after this read, and the batch: a row of poll_batches that is the lease of them all. While it lives nobody else claims its
 * sessions; when all its reads are done it is deleted; when its worker dies, the lease runs out, another worker deletes it and takes
 * batch_id off its sessions in the same transaction. So batch_id is the fence: whoever writes about a session names the batch it
 * was claimed in, and a worker that was thought dead finds another there, or none, and changes nothing.
 *
 * So the claim is itself the reschedule: one narrow row written per poll, and nothing at all for an answer that did not change.
 * That a read succeeded is said by the batch being gone (claimed_at then is the time of the last good read); a read that
 * failed says so itself. The alternative, a lease in each row and a second write that releases it, costs a second update
 * per poll, and the due_at index makes neither of them HOT.
 *
 * The price: a session that was read is claimed again only when the slowest read of its batch is over. That is SCS_TIMEOUT_MS and a
 * wait for a turn, by default not longer than POLL_MIN_INTERVAL_MS, before which it is not due anyway.
 */

/** Says when the claim was made, for all of its sessions: a timestamp per row would cost a microsecond each to read. */
export const OPEN_BATCH: Statement = {
  name: 'open_poll_batch',
  text: `
    INSERT INTO poll_batches (worker, size, lease_until)
    VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
    RETURNING id::text, claimed_at AS now`,
};

/**
 * The session by a subquery, not a join: with 20,000 sessions the planner read the whole table of them for a hash join of 500, which
 * was two thirds of the statement. By its primary key each costs 3 µs, however many there are.
 */
const CLAIMED_COLUMNS = `
           p.session_id AS "sessionId", p.user_id AS "userId", p.phase, p.anchor_at AS "anchorAt", p.failures,
           p.not_found AS "notFound", encode(p.answer_hash, 'hex') AS "answerHash", encode(p.facts_hash, 'hex') AS "factsHash",
           p.answer_kept_at AS "answerKeptAt", s.expires_at AS "expiresAt", s.recorded_at AS "recordedAt"`;

/** OFFSET 0 keeps the planner from making a join of it. */
const SESSION_OF_POLL = `
    LATERAL (SELECT expires_at, recorded_at FROM onboarding_sessions WHERE id = p.session_id OFFSET 0) s`;

/**
 * Not an anti-join: it may become a hash join, which gives up the order of the index. An array is computed once, and is a filter
 * that leaves the order alone. Live batches are few.
 */
const NOT_CLAIMED = (batchId: string) =>
  `(${batchId} IS NULL OR ${batchId} <> ALL (ARRAY(SELECT id FROM poll_batches)))`;

/**
 * The oldest due first. MATERIALIZED, because a nested-loop plan may run a plain subquery again for every row of the other side,
 * and each run locks and takes a further batch. now() instead of clock_timestamp(), because only a stable function can be a bound
 * of the index scan; and in a subquery, because the planner would compare the time itself with what it remembers of due_at. It
 * remembers times that have passed since, expects next to nothing to be due, and then reads and sorts the whole backlog
 * to take one batch of it (14,500 due: 54 ms for 500; so 2 to 6). Without the time it takes a third of the table to be due, and
 * walks the index until the batch is full.
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

/** One session, whether due or not, unless it is being read. */
export const SELECT_ONE: Statement = {
  name: 'select_one_poll',
  text: `
    SELECT ${CLAIMED_COLUMNS} FROM session_polls p, ${SESSION_OF_POLL}
     WHERE p.session_id = $1
       FOR UPDATE OF p`,
};

/**
 * Runs under the row locks of the SELECT before it, and as a statement of its own sees what committed while that one waited: a
 * batch that another worker opened on the same row is visible here though it may not have been there.
 *
 * The arrays stand in subqueries so that the planner does not see how long they are: for 500 of 20,000 rows it reads the whole table,
 * which takes 11 ms of 17. What is claimed is at hand from the SELECT, and the primary key finds it in 4.
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

/** No index leads from a batch to its sessions: it would be written at every poll, and is wanted only after a crash. */
export const RELEASE_BATCHES: Statement = {
  name: 'release_poll_batches',
  text: `
    UPDATE session_polls SET due_at = least(due_at, clock_timestamp()), claimed_at = checked_at, batch_id = NULL
     WHERE batch_id = ANY($1::bigint[])`,
};

/** What a read that brought no answer leaves behind: `failures` and `not_found` as given, the last good read unchanged. */
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

/** After an answer that changed something, or that ended a row of failures. `kept` says that the answer is the last observation now. */
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
 * A closed session is watched for one read, as if it had been due. Its row is locked, so that an erasure is either seen here or finds
 * the poll. An erased session is not read any more.
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

/** Under the fence of a read that brought nothing: the read of another may be about to reopen the session, which must stay watched. */
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
