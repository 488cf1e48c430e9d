import type { Statement } from '../../platform/database/database.js';

/** Notified by a replica that was told to wait or that saw the health change. Only a hint: replicas also read periodically. */
export const OPERATIONS_CHANNEL = 'pv_onboarding_remote';

/** SQL for the milliseconds from now, by the clock of the database, which all replicas share. */
const msUntil = (column: string): string =>
  `(extract(epoch FROM ${column} - clock_timestamp()) * 1000)::float8`;
const msFromNow = (parameter: string): string =>
  `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;

export const READ: Statement = {
  name: 'remote_operations_read',
  text: `
    SELECT operation, health, since, reason,
      coalesce(${msUntil('quiet_until')}, 0) AS "quietMs", coalesce(${msUntil('trouble_until')}, 0) AS "troubleMs"
    FROM remote_operations`,
};

// A shorter wait does not undo a longer one, whichever replica writes last. The hour is the limit of readRetryAfter, repeated here where it
// binds every replica: one with a bug must not silence the deployment for a year.
export const HOLD_BACK: Statement = {
  name: 'remote_operations_hold_back',
  text: `
    WITH held AS (
      UPDATE remote_operations SET quiet_until = greatest(quiet_until, ${msFromNow('least($2::float8, 3600000)')})
      WHERE operation = $1 RETURNING operation
    )
    SELECT pg_notify('${OPERATIONS_CHANNEL}', operation) FROM held`,
};

// Conditional on the health that it leaves: of several replicas that detect the same change, one announces it.
export const DEGRADE: Statement = {
  name: 'remote_operations_degrade',
  text: `
    UPDATE remote_operations SET health = 'degraded', since = clock_timestamp(), reason = $2, trouble_until = ${msFromNow('$3')}
    WHERE operation = $1 AND health = 'healthy'
    RETURNING since`,
};

export const CONFIRM_TROUBLE: Statement = {
  name: 'remote_operations_confirm_trouble',
  text: `
    UPDATE remote_operations SET trouble_until = greatest(trouble_until, ${msFromNow('$2')})
    WHERE operation = $1 AND health = 'degraded'`,
};

export const REJECT_CREDENTIALS: Statement = {
  name: 'remote_operations_reject_credentials',
  text: `
    UPDATE remote_operations SET health = 'credentials_rejected', since = clock_timestamp(), reason = $1, trouble_until = NULL
    WHERE operation = 'token' AND health <> 'credentials_rejected'
    RETURNING since`,
};

export const RECOVER: Statement = {
  name: 'remote_operations_recover',
  text: `
    WITH before AS (
      SELECT operation, since FROM remote_operations
      WHERE operation = $1 AND health = $2 AND (NOT $3::boolean OR coalesce(trouble_until <= clock_timestamp(), true))
      FOR UPDATE
    )
    UPDATE remote_operations AS o SET health = 'healthy', since = clock_timestamp(), reason = NULL, trouble_until = NULL
    FROM before WHERE o.operation = before.operation
    RETURNING before.since, o.since AS "recoveredAt"`,
};

/** Locks the operation, so that its events are in the order in which they become true. */
export const LOCK: Statement = {
  name: 'remote_operations_lock',
  text: `SELECT 1 FROM remote_operations WHERE operation = $1 FOR UPDATE`,
};
