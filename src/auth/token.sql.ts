import type { Statement } from '../platform/database/database.js';

/** SQL for the milliseconds from now, by the clock of the database, which all replicas share. */
const msUntil = (column: string): string =>
  `(extract(epoch FROM ${column} - clock_timestamp()) * 1000)::float8`;
const msFromNow = (parameter: string): string =>
  `clock_timestamp() + ${parameter} * interval '1 millisecond'`;
const LEASED = `coalesce(lease_until > clock_timestamp(), false)`;

export const CREATE: Statement = {
  name: 'token_create',
  text: `INSERT INTO remote_tokens (name) VALUES ('tenant') ON CONFLICT (name) DO NOTHING`,
};

export const FIND: Statement = {
  name: 'token_find',
  text: `
    SELECT generation::float8 AS "generation", token_ciphertext AS "tokenCiphertext",
      coalesce(credentials_fingerprint = $1, false) AS "ours",
      -${msUntil('obtained_at')} AS "obtainedAgoMs", ${msUntil('renew_at')} AS "renewInMs", ${msUntil('expires_at')} AS "expiresInMs",
      rejected_at IS NOT NULL AS "rejected", failures,
      coalesce(${msUntil('next_attempt_at')}, 0) AS "nextAttemptInMs", ${LEASED} AS "leased"
    FROM remote_tokens WHERE name = 'tenant'`,
};

// Exactly one claim wins: the row lock makes a second UPDATE see the lease of the first. A row renewed since it was read has another
// generation, so a late claim matches nothing. The wait after a failure applies only to processes with the same credentials, which would
// fail the same way.
export const CLAIM: Statement = {
  name: 'token_claim',
  text: `
    UPDATE remote_tokens SET lease_token = $1, lease_until = ${msFromNow('$2::float8')}
    WHERE name = 'tenant' AND generation = $3 AND NOT ${LEASED}
      AND (next_attempt_at IS NULL OR next_attempt_at <= clock_timestamp() OR credentials_fingerprint IS DISTINCT FROM $4)
    RETURNING 1`,
};

// During a trial ($8 is its lease in milliseconds) the lease continues: until the service accepts the new token, only the holder of the
// lease may use it.
export const SAVE: Statement = {
  name: 'token_save',
  text: `
    UPDATE remote_tokens SET generation = generation + 1, token_ciphertext = $2, token_type = $3, expires_in_raw = $4,
      obtained_at = clock_timestamp(), renew_at = ${msFromNow('$5::float8')}, expires_at = ${msFromNow('$6::float8')},
      credentials_fingerprint = $7, last_error = NULL, next_attempt_at = NULL,
      rejected_at = CASE WHEN $8::float8 IS NOT NULL THEN rejected_at END,
      failures = CASE WHEN $8::float8 IS NOT NULL THEN failures ELSE 0 END,
      lease_token = CASE WHEN $8::float8 IS NOT NULL THEN lease_token END,
      lease_until = CASE WHEN $8::float8 IS NOT NULL THEN ${msFromNow('$8::float8')} END
    WHERE name = 'tenant' AND lease_token = $1
    RETURNING generation::float8 AS "generation"`,
};

// If the service rejects the credentials while an older token is still valid, calls continue until that token expires. During a trial,
// `failures` counts only refusals: an endpoint that is down says nothing about the credentials.
export const FAIL: Statement = {
  name: 'token_fail',
  text: `
    UPDATE remote_tokens SET failures = failures + CASE WHEN rejected_at IS NOT NULL AND NOT $4::boolean THEN 0 ELSE 1 END,
      last_error = $2, next_attempt_at = ${msFromNow('$3::float8')},
      rejected_at = CASE
        WHEN rejected_at IS NOT NULL AND credentials_fingerprint = $5 THEN rejected_at
        WHEN $4::boolean AND NOT (credentials_fingerprint IS NOT DISTINCT FROM $5
          AND token_ciphertext IS NOT NULL AND expires_at > clock_timestamp()) THEN clock_timestamp()
      END,
      token_ciphertext = CASE WHEN credentials_fingerprint = $5 THEN token_ciphertext END,
      credentials_fingerprint = $5, lease_token = NULL, lease_until = NULL
    WHERE name = 'tenant' AND lease_token = $1
    RETURNING rejected_at IS NOT NULL AND failures > 0 AS "rejected"`,
};

// The condition on the generation turns 200 late refusals of one token into a single update.
export const SUSPECT: Statement = {
  name: 'token_suspect',
  text: `
    UPDATE remote_tokens SET token_ciphertext = NULL, rejected_at = clock_timestamp(), failures = 0, next_attempt_at = NULL,
      last_error = 'the service refused the token'
    WHERE name = 'tenant' AND generation = $1 AND credentials_fingerprint = $2 AND rejected_at IS NULL`,
};

export const ACCEPT: Statement = {
  name: 'token_accept',
  text: `
    UPDATE remote_tokens SET rejected_at = NULL, failures = 0, last_error = NULL, next_attempt_at = NULL,
      lease_token = NULL, lease_until = NULL
    WHERE name = 'tenant' AND lease_token = $1
    RETURNING 1`,
};

export const REFUSE: Statement = {
  name: 'token_refuse',
  text: `
    UPDATE remote_tokens SET failures = failures + 1, last_error = 'the service refused a fresh token',
      next_attempt_at = ${msFromNow('$2::float8')}, lease_token = NULL, lease_until = NULL
    WHERE name = 'tenant' AND lease_token = $1
    RETURNING last_error AS "lastError"`,
};

export const RELEASE: Statement = {
  name: 'token_release',
  text: `
    UPDATE remote_tokens SET next_attempt_at = ${msFromNow('$2::float8')}, lease_token = NULL, lease_until = NULL
    WHERE name = 'tenant' AND lease_token = $1`,
};

export const STATUS: Statement = {
  name: 'token_status',
  text: `
    SELECT token_ciphertext IS NOT NULL AS "present", generation::float8 AS "generation", token_type AS "tokenType",
      expires_in_raw AS "expiresInRaw", obtained_at AS "obtainedAt", renew_at AS "renewAt", expires_at AS "expiresAt",
      coalesce(expires_at <= clock_timestamp(), true) AS "expired", rejected_at AS "rejectedAt", failures,
      last_error AS "lastError", next_attempt_at AS "nextAttemptAt", ${LEASED} AS "leased"
    FROM remote_tokens WHERE name = 'tenant' AND credentials_fingerprint = $1`,
};
