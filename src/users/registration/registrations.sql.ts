import { mayAct } from '../../access/acting-caller.js';
import { lastSequence } from '../../events/sequence.sql.js';
import { prepared } from '../../platform/database/database.js';
import { IS_RESTORE_UNCHECKED } from '../../platform/database/deployment.store.js';
import { leasesOn } from '../../platform/database/lease.sql.js';
import { FOR_ABANDONED_LEASES } from '../../platform/database/abandoned-leases.js';
import { stallOf } from '../../stalls/stalls.sql.js';
import { msFromNow } from '../../platform/database/timestamps.js';

// Every statement in this file follows the rules of leases and fences at the head of send-registrations.service.ts. Times are by the
// database's clock: clock_timestamp(), since now() is constant within a transaction. The statements are SQL, since Prisma Client has no
// database clock, no ON CONFLICT by a partial index and no SKIP LOCKED.

export const ANNOUNCED = 'registrations.id, tenant_reference AS "tenantReference", metadata';

const CLAIM_COLUMNS = `${ANNOUNCED}, eans, attempts, lease_token AS "leaseToken"`;

const LEASED = `
  attempts = registrations.attempts + 1,
  lease_token = $2,
  lease_until = ${msFromNow('$1')},
  sent_at = clock_timestamp(),
  next_attempt_at = NULL,
  updated_at = clock_timestamp()`;

export const RELEASED = 'lease_token = NULL, lease_until = NULL, updated_at = clock_timestamp()';

const DUE = `status = 'pending' AND lease_token IS NULL AND next_attempt_at <= clock_timestamp()`;

/** The statuses that prevent a reference from being registered anew. The partial unique index has the same condition. */
export const LIVE = `status IN ('pending', 'registered', 'uncertain')`;

/** The statuses of a registration of which nobody knows yet whether its user will exist. */
export const UNDECIDED = `('pending', 'uncertain')`;

/** Inserts an intent, leased to the caller. No row: its reference is live, or unchecked after a restore, or the key $6 is revoked. */
// The partial unique index lets only one of several concurrent requests insert a row. The other requests wait for its commit.
export const OPEN_INTENT = prepared('registrations.open_intent')`
    INSERT INTO registrations (tenant_reference, eans, metadata, attempts, lease_token, lease_until, sent_at)
    SELECT $3, $4, $5, 1, $2, ${msFromNow('$1')}, clock_timestamp()
     WHERE NOT ${IS_RESTORE_UNCHECKED} AND ${mayAct('$6')}
    ON CONFLICT (tenant_reference) WHERE ${LIVE} DO NOTHING
    RETURNING ${CLAIM_COLUMNS}`;

export const INSERT_UNCERTAIN = `
    INSERT INTO registrations (tenant_reference, eans, metadata, status, last_error)
    VALUES ($1, $2, $3, 'uncertain', $4)
    ON CONFLICT (tenant_reference) WHERE ${LIVE} DO NOTHING
    RETURNING ${ANNOUNCED}`;

// Uses the index on next_attempt_at, which is null after a claim. Thousands of registrations may be pending, but few are leased.
const IS_LEASED = `status = 'pending' AND next_attempt_at IS NULL AND lease_token IS NOT NULL`;

/** Makes the unsent registrations of a claim due again, unless they have become `uncertain` meanwhile. */
export const RETURN_CLAIM = `
    UPDATE registrations SET last_error = 'the database was lost before it was sent', next_attempt_at = clock_timestamp(),
      sent_at = NULL, ${RELEASED}
    WHERE ${IS_LEASED} AND lease_token = $1
    RETURNING id`;

export const CLAIM_ONE = `
    UPDATE registrations SET ${LEASED} WHERE id = $3 AND ${DUE} AND ${mayAct('$4')} RETURNING ${CLAIM_COLUMNS}`;

// Claims the registrations of campaigns last, so that a retry for an app never waits behind a campaign.
// Both subqueries read few rows, since few registrations of a campaign are pending at once. One ORDER BY would sort all due rows.
// They are MATERIALIZED, since a nested-loop join would execute a plain subquery, and its LIMIT, once per row.
const WITH_DUE = (limit: string) => `
    WITH first AS MATERIALIZED (
      SELECT id FROM registrations WHERE ${DUE} AND campaign_id IS NULL
      ORDER BY next_attempt_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ), last AS MATERIALIZED (
      SELECT id FROM registrations WHERE ${DUE} AND campaign_id IS NOT NULL
      ORDER BY next_attempt_at
      LIMIT ${limit} - (SELECT count(*) FROM first)
      FOR UPDATE SKIP LOCKED
    ), due AS (SELECT id FROM first UNION ALL SELECT id FROM last)`;

export const CLAIM_DUE = prepared('registrations.claim_due')`
    ${WITH_DUE('$3')}
    UPDATE registrations SET ${LEASED} WHERE id IN (SELECT id FROM due) RETURNING ${CLAIM_COLUMNS}`;

export const ANY_DUE = `SELECT FROM registrations WHERE ${DUE}`;

/** Locks the $1 registrations that CLAIM_DUE would claim. */
export const LOCK_DUE = `${WITH_DUE('$1')} SELECT id FROM due`;

/** Claims registrations that LOCK_DUE has locked. */
export const CLAIM_LOCKED = `
    UPDATE registrations SET ${LEASED} WHERE id = ANY ($3) RETURNING ${CLAIM_COLUMNS}`;

export const LEASES = leasesOn({ table: 'registrations', key: 'id', isDue: DUE });

/** Locks the registration if $2 numbers its latest call. `isLeased`: whether it has the caller's lease $3. `isFree`: it has no lease. */
export const LOCK_FOR_OUTCOME = prepared('registrations.lock_for_outcome')`
    SELECT status, user_id AS "userId", last_error AS "lastError", coalesce(lease_token = $3, false) AS "isLeased", lease_token IS NULL AS "isFree"
    FROM registrations WHERE id = $1 AND attempts = $2
    FOR UPDATE`;

/** Returns the assignments that change the status of a locked registration. If the status becomes `pending`, nothing was sent. */
export const movedTo = (status: string, userId: string, lastError: string, nextMs: string): string => `
      status = ${status}, user_id = ${userId}, last_error = ${lastError}, next_attempt_at = ${msFromNow(nextMs)},
      sent_at = CASE WHEN ${status} <> 'pending' THEN sent_at END, ${RELEASED}`;

export const MOVE_REGISTRATION = prepared('registrations.move_registration')`
    UPDATE registrations SET ${movedTo('$2::text', '$3', '$4', '$5')} WHERE id = $1`;

/** Keeps what a call has learned ($2) after a person had decided, for that person. */
export const NOTE_LATE = `UPDATE registrations SET last_error = $2 WHERE id = $1 AND user_id IS NULL AND lease_token IS NULL`;

/** The registrations whose call may be in flight. */
export const SENT = `SELECT lease_token AS lease FROM registrations WHERE ${IS_LEASED}`;

export const FIND_LEASES = `${SENT} ${FOR_ABANDONED_LEASES}`;

// A lease expires only if its sender died during the call or could not renew the lease.
export const LOCK_ABANDONED = `
    SELECT id FROM registrations WHERE ${IS_LEASED} AND lease_token = ANY ($1) AND lease_until < clock_timestamp()
       FOR UPDATE SKIP LOCKED`;

/** Makes registrations that LOCK_ABANDONED has locked `uncertain`. */
export const MOVE_TO_UNCERTAIN = `
    UPDATE registrations SET status = 'uncertain', last_error = $1, next_attempt_at = NULL, ${RELEASED}
    WHERE id = ANY ($2)
    RETURNING ${ANNOUNCED}`;

// `sequence` is the greater of two, since the last event of a registered registration is about its user.
export const SELECT_REGISTRATION = `
  SELECT id, tenant_reference AS "tenantReference", eans, metadata, status, user_id AS "userId", campaign_id AS "campaignId", attempts,
    last_error AS "lastError", next_attempt_at AS "nextAttemptAt", created_at AS "createdAt", updated_at AS "updatedAt",
    lease_token IS NOT NULL AS "isBeingSent", coalesce(${DUE}, false) AS "isDue",
    greatest(${lastSequence('registrations.id::text')}, ${lastSequence('registrations.user_id::text')}) AS sequence,
    ${stallOf('registration', 'registrations.id')} AS stalled
  FROM registrations`;

export const FIND_REGISTRATION = prepared('registrations.find_registration')`
    ${SELECT_REGISTRATION} WHERE id = $1`;

export const FIND_LIVE = prepared('registrations.find_live')`
    ${SELECT_REGISTRATION} WHERE tenant_reference = $1 AND ${LIVE}`;

export const COUNT_OTHERS = prepared('registrations.count_others')`
    SELECT wanted.ean, count(other.tenant_reference)::int AS others
    FROM unnest($2::text[]) AS wanted (ean)
    CROSS JOIN LATERAL (
      SELECT users.tenant_reference FROM grid_locations JOIN users ON users.id = user_id WHERE grid_locations.ean = wanted.ean
      UNION
      SELECT tenant_reference FROM registrations WHERE eans @> ARRAY[wanted.ean] AND ${LIVE}
    ) AS other
    WHERE other.tenant_reference <> $1
    GROUP BY wanted.ean
    UNION ALL
    SELECT NULL, count(*)::int FROM registrations
     WHERE reference_fold(tenant_reference) = reference_fold($1) AND tenant_reference <> $1 AND ${LIVE}`;
