import { appendingAfter } from '../../events/outbox.js';
import type { Statement } from '../../platform/database/database.js';
import { CONFIRMED_USER, keepingUsers } from '../user/users.sql.js';

// A registration is leased from the commit before its call until its outcome is stored. Every statement here obeys three rules, on which
// the guarantees rest:
// - A claim sets sent_at and counts the attempt in the same statement, and only claims do. So a lease implies that the call may have been
//   sent. `attempts` numbers the calls and is the fence of a late response.
// - A claim never takes a row that has a lease, not even an expired one. A row with an expired lease becomes `uncertain` and is not sent.
// - Every time is the database's (clock_timestamp(), since now() is constant within a transaction).

const CLAIM_COLUMNS = `registrations.id, tenant_reference AS "tenantReference", eans, metadata, attempts, lease_token AS "leaseToken"`;

const LEASED = `
  attempts = registrations.attempts + 1,
  lease_token = gen_random_uuid(),
  lease_until = clock_timestamp() + $1 * interval '1 millisecond',
  sent_at = clock_timestamp(),
  next_attempt_at = NULL,
  updated_at = clock_timestamp()`;

/**
 * Inserts the intents of new registrations, leased to the caller. Returns no row for a reference that already has a live registration.
 * The partial unique index decides: of any number of requests, in one statement or several, exactly one inserts. An insert waits until
 * another of the same reference has committed, so pass the intents ordered by reference.
 */
export const OPEN_INTENTS: Statement = {
  name: 'registrations.open_intents',
  text: `
    INSERT INTO registrations (id, tenant_reference, eans, metadata, attempts, lease_token, lease_until, sent_at)
    SELECT id, "tenantReference", ARRAY(SELECT jsonb_array_elements_text(eans)), metadata, 1, gen_random_uuid(),
      clock_timestamp() + $1 * interval '1 millisecond', clock_timestamp()
    FROM jsonb_to_recordset($2::jsonb) AS asked (id uuid, "tenantReference" text, eans jsonb, metadata jsonb)
    ON CONFLICT (tenant_reference) WHERE status IN ('pending', 'registered', 'uncertain') DO NOTHING
    RETURNING id, lease_token AS "leaseToken"`,
};

/**
 * Makes intents due at once for which nothing was sent. Finds them by id alone, since the lease token was lost with the response.
 * Excludes expired leases, which may already count as abandoned.
 */
export const GIVE_BACK_INTENTS: Statement = {
  name: 'registrations.give_back_intents',
  text: `
    UPDATE registrations SET last_error = 'the database was lost before it was sent', next_attempt_at = clock_timestamp(),
      sent_at = NULL, lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
    WHERE id = ANY($1::uuid[]) AND status = 'pending' AND attempts = 1 AND lease_until > clock_timestamp()
    RETURNING id`,
};

/** Claims one registration, for a request that finds it due before the worker does. */
export const CLAIM_ONE: Statement = {
  name: 'registrations.claim_one',
  text: `
    UPDATE registrations SET ${LEASED}
    WHERE id = $2 AND status = 'pending' AND lease_token IS NULL AND next_attempt_at <= clock_timestamp()
    RETURNING ${CLAIM_COLUMNS}`,
};

// MATERIALIZED, because a nested-loop join would run a plain subquery, and its LIMIT, once for every row.
export const CLAIM_DUE: Statement = {
  name: 'registrations.claim_due',
  text: `
    WITH due AS MATERIALIZED (
      SELECT id FROM registrations
      WHERE status = 'pending' AND lease_token IS NULL AND next_attempt_at <= clock_timestamp()
      ORDER BY next_attempt_at
      LIMIT $2
      FOR UPDATE SKIP LOCKED
    )
    UPDATE registrations SET ${LEASED} FROM due WHERE registrations.id = due.id
    RETURNING ${CLAIM_COLUMNS}`,
};

export const EXTEND_LEASE: Statement = {
  name: 'registrations.extend_lease',
  text: `
    UPDATE registrations SET lease_until = clock_timestamp() + $1 * interval '1 millisecond'
    WHERE id = $2 AND lease_token = $3`,
};

/**
 * Returns the condition under which the outcome of a call may be stored: under its lease, or without any lease if there was no further
 * call and the status is still pending or uncertain. A response after its lease has expired is no less true.
 */
const takesOutcome = (attempts: string, leaseToken: string): string =>
  `registrations.attempts = ${attempts}
    AND (lease_token = ${leaseToken} OR (lease_token IS NULL AND status IN ('pending', 'uncertain')))`;

export const LOCK_FOR_OUTCOME: Statement = {
  name: 'registrations.lock_for_outcome',
  text: `
    SELECT id FROM registrations
    WHERE id = $1 AND ${takesOutcome('$2', '$3')}
    FOR UPDATE`,
};

// One statement, because the cost of a registration is mostly its round trips and commits. $1 are the confirmations, $2 their events. The
// registration is locked before the user is inserted, as an erasure expects. The condition is checked again after a wait for that lock.
// If it does not hold, the statement returns no row and changes nothing.
//
// Rows are found by LATERAL and updated by ON CONFLICT, which always meets the locked row: both use the primary key, whatever size
// PostgreSQL assumes for the table. Rejected: an UPDATE that joins `locked`. Planned while the table was small, it scanned all of it: 100
// µs for each of the first 8,000 registrations of a new database, and more for each further one, until the first ANALYZE.
const confirming = (condition: string, lock: string): string => `
    WITH locked AS MATERIALIZED (
      SELECT confirmed.*, registration.metadata, registration.eans, registration.tenant_reference
      FROM jsonb_to_recordset($1::jsonb) AS confirmed (
        "registrationId" uuid, attempts int, "leaseToken" uuid, nth int, ${CONFIRMED_USER}
      )
      CROSS JOIN LATERAL (
        SELECT metadata, eans, tenant_reference FROM registrations
        WHERE id = confirmed."registrationId" AND ${condition}
        ${lock}
      ) AS registration
    ), moved AS (
      INSERT INTO registrations (id, tenant_reference, eans, metadata, status, user_id)
      SELECT "registrationId", tenant_reference, eans, metadata, 'registered', id FROM locked
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, user_id = excluded.user_id, last_error = NULL,
        next_attempt_at = NULL, lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
      RETURNING user_id AS id
    ), confirmed AS (
      SELECT locked.* FROM locked JOIN moved USING (id)
    ), ${keepingUsers('confirmed')}, ${appendingAfter('kept', '$2')}
    SELECT nth, kept.metadata, kept."createdAt", kept."updatedAt", "registeredAt", (SELECT count(*) FROM jobs) AS jobs
    FROM kept JOIN confirmed USING (id)`;

/** Inserts the user and the event of a confirmed call, and updates its registration. */
export const CONFIRM_OUTCOME: Statement = {
  name: 'registrations.confirm_outcome',
  text: confirming(takesOutcome('confirmed.attempts', 'confirmed."leaseToken"'), 'FOR UPDATE'),
};

/** Does the same for several calls. Skips registrations that another transaction has locked, so that the others do not wait for it. */
export const CONFIRM_OUTCOMES: Statement = {
  name: 'registrations.confirm_outcomes',
  text: confirming(takesOutcome('confirmed.attempts', 'confirmed."leaseToken"'), 'FOR UPDATE SKIP LOCKED'),
};

/** Does the same for a locked registration that a person may decide about. */
export const CONFIRM_LOCKED: Statement = {
  name: 'registrations.confirm_locked',
  text: confirming('true', 'FOR UPDATE'),
};

export const MOVE_TO_REJECTED: Statement = {
  name: 'registrations.move_to_rejected',
  text: `
    UPDATE registrations SET status = 'rejected', last_error = $2, next_attempt_at = NULL,
      lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
    WHERE id = $1`,
};

/** Nothing was sent, so the statement that makes the registration due again also clears sent_at. */
export const MOVE_TO_PENDING: Statement = {
  name: 'registrations.move_to_pending',
  text: `
    UPDATE registrations SET status = 'pending', last_error = $2,
      next_attempt_at = clock_timestamp() + $3 * interval '1 millisecond', sent_at = NULL,
      lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
    WHERE id = $1`,
};

/** Requires the lease: a late response that is not certain must not undo a person's decision. */
export const MOVE_TO_UNCERTAIN: Statement = {
  name: 'registrations.move_to_uncertain',
  text: `
    UPDATE registrations SET status = 'uncertain', last_error = $3, next_attempt_at = NULL,
      lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
    WHERE id = $1 AND lease_token = $2
    RETURNING id`,
};

/** A live sender renews its lease, so an expired lease means that the sender died during its call. */
export const MOVE_ABANDONED_TO_UNCERTAIN: Statement = {
  name: 'registrations.move_abandoned_to_uncertain',
  text: `
    WITH abandoned AS MATERIALIZED (
      SELECT id FROM registrations
      WHERE status = 'pending' AND lease_until < clock_timestamp()
      LIMIT $1
      FOR UPDATE SKIP LOCKED
    )
    UPDATE registrations SET status = 'uncertain', last_error = $2, next_attempt_at = NULL,
      lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()
    FROM abandoned WHERE registrations.id = abandoned.id
    RETURNING registrations.id, registrations.tenant_reference AS "tenantReference"`,
};

const REGISTRATION_COLUMNS = `
  id, tenant_reference AS "tenantReference", eans, metadata, status, user_id AS "userId", attempts, last_error AS "lastError",
  next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", updated_at AS "updatedAt",
  lease_token IS NOT NULL AS "isBeingSent",
  coalesce(status = 'pending' AND lease_token IS NULL AND next_attempt_at <= clock_timestamp(), false) AS "isDue"`;

export const FIND_REGISTRATION: Statement = {
  name: 'registrations.find',
  text: `SELECT ${REGISTRATION_COLUMNS} FROM registrations WHERE id = $1`,
};

/** Returns at most one row, by the index that OPEN_INTENTS relies on. */
export const FIND_LIVE_REGISTRATION: Statement = {
  name: 'registrations.find_live',
  text: `
    SELECT ${REGISTRATION_COLUMNS} FROM registrations
    WHERE tenant_reference = $1 AND status IN ('pending', 'registered', 'uncertain')`,
};

export const LOCK_REGISTRATION: Statement = {
  name: 'registrations.lock',
  text: `SELECT ${REGISTRATION_COLUMNS} FROM registrations WHERE id = $1 FOR UPDATE`,
};

export const MOVE_BY_RETRY: Statement = {
  name: 'registrations.move_by_retry',
  text: `
    UPDATE registrations SET status = 'pending', next_attempt_at = clock_timestamp(), sent_at = NULL,
      updated_at = clock_timestamp()
    WHERE id = $1`,
};

export const MOVE_BY_DISCARD: Statement = {
  name: 'registrations.move_by_discard',
  text: `
    UPDATE registrations SET status = 'discarded', next_attempt_at = NULL, updated_at = clock_timestamp()
    WHERE id = $1`,
};
