import { encryptedColumn } from '../platform/crypto/re-encryption.store.js';
import { msFromNow, msUntil } from '../platform/database/timestamps.js';

export const TOKENS = encryptedColumn('remote_tokens', 'token_ciphertext', {
  name: 'name',
  type: 'text',
});

const LEASED = `coalesce(lease_until > clock_timestamp(), false)`;

export const FIND_TOKEN = `
  SELECT generation::float8 AS "generation", token_ciphertext AS "tokenCiphertext",
    coalesce(credentials_fingerprint = $1, false) AS "ours",
    -${msUntil('obtained_at')} AS "obtainedAgoMs", ${msUntil('renew_at')} AS "renewInMs", ${msUntil('expires_at')} AS "expiresInMs",
    rejected_at IS NOT NULL AS "rejected", failures,
    coalesce(${msUntil('next_attempt_at')}, 0) AS "nextAttemptInMs", ${LEASED} AS "leased"
  FROM remote_tokens WHERE name = 'tenant'`;

// Of several concurrent claims, only one succeeds. The other claims find the row leased, or find a new generation after a renewal.
// After a failure, only processes with the same credentials must wait until next_attempt_at.
export const CLAIM_TOKEN = `
  UPDATE remote_tokens SET lease_token = $1, lease_until = ${msFromNow('$2')}
  WHERE name = 'tenant' AND generation = $3 AND NOT ${LEASED}
    AND (next_attempt_at IS NULL OR next_attempt_at <= clock_timestamp() OR credentials_fingerprint IS DISTINCT FROM $4)
  RETURNING 1`;

// Ignores next_attempt_at, because a person has requested the probe. Allows one probe in $4 ms for all replicas together.
export const CLAIM_PROBE = `
  UPDATE remote_tokens SET lease_token = $1, lease_until = ${msFromNow('$2')}, probed_at = clock_timestamp()
  WHERE name = 'tenant' AND generation = $3 AND NOT ${LEASED}
    AND (probed_at IS NULL OR probed_at < clock_timestamp() - $4::float8 * interval '1 millisecond')
  RETURNING 1`;

// If $8 is not null, one call must test the new token first (a trial). The lease is renewed for $8 ms: no other call may use the token.
export const SAVE_TOKEN = `
  UPDATE remote_tokens SET generation = generation + 1, token_ciphertext = $2, token_type = $3, expires_in_raw = $4,
    obtained_at = clock_timestamp(), renew_at = ${msFromNow('$5')}, expires_at = ${msFromNow('$6')},
    credentials_fingerprint = $7, last_error = NULL, next_attempt_at = NULL,
    rejected_at = CASE WHEN $8::float8 IS NOT NULL THEN rejected_at END,
    failures = CASE WHEN $8::float8 IS NOT NULL THEN failures ELSE 0 END,
    lease_token = CASE WHEN $8::float8 IS NOT NULL THEN lease_token END,
    lease_until = ${msFromNow('$8')}
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING generation::float8 AS "generation"`;

// rejected_at blocks calls. Rejected credentials ($4) do not set it while the stored token is valid: calls continue with that token.
// While rejected_at is set, `failures` counts only rejections of the credentials. Other failures of the token endpoint are not counted.
export const RECORD_FAILURE = `
  UPDATE remote_tokens SET failures = failures + CASE WHEN rejected_at IS NOT NULL AND NOT $4::boolean THEN 0 ELSE 1 END,
    last_error = $2, next_attempt_at = ${msFromNow('$3')},
    rejected_at = CASE
      WHEN rejected_at IS NOT NULL AND credentials_fingerprint = $5 THEN rejected_at
      WHEN $4::boolean AND NOT (credentials_fingerprint IS NOT DISTINCT FROM $5
        AND token_ciphertext IS NOT NULL AND expires_at > clock_timestamp()) THEN clock_timestamp()
    END,
    token_ciphertext = CASE WHEN credentials_fingerprint = $5 THEN token_ciphertext END,
    credentials_fingerprint = $5, lease_token = NULL, lease_until = NULL
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING 1`;

// Many calls may report the same refused token: only the first report writes. The generation protects a newer token from a late report.
export const SUSPECT_TOKEN = `
  UPDATE remote_tokens SET token_ciphertext = NULL, rejected_at = clock_timestamp(), failures = 0, next_attempt_at = NULL,
    last_error = 'the service refused the token'
  WHERE name = 'tenant' AND generation = $1 AND credentials_fingerprint = $2 AND rejected_at IS NULL
  RETURNING 1`;

export const ACCEPT_TOKEN = `
  UPDATE remote_tokens SET rejected_at = NULL, failures = 0, last_error = NULL, next_attempt_at = NULL,
    lease_token = NULL, lease_until = NULL
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING 1`;

export const REFUSE_TOKEN = `
  UPDATE remote_tokens SET failures = failures + 1, last_error = 'the service refused a fresh token',
    next_attempt_at = ${msFromNow('$2')}, lease_token = NULL, lease_until = NULL
  WHERE name = 'tenant' AND lease_token = $1
  RETURNING last_error AS "lastError", failures`;

export const RELEASE_TOKEN = `
  UPDATE remote_tokens SET next_attempt_at = ${msFromNow('$2')}, lease_token = NULL, lease_until = NULL
  WHERE name = 'tenant' AND lease_token = $1`;

// The outer join returns a row even if there is no token for these credentials.
export const FIND_TOKEN_STATUS = `
  SELECT
    CASE
      WHEN rejected_at IS NOT NULL AND failures > 0 AND NOT ${LEASED} THEN 'rejected'
      WHEN rejected_at IS NOT NULL THEN 'on_trial'
      WHEN token_ciphertext IS NULL THEN 'none'
      WHEN expires_at <= clock_timestamp() THEN 'expired'
      ELSE 'valid'
    END AS "state",
    coalesce(generation, 0)::float8 AS "generation", round(-${msUntil('obtained_at')} / 1000) AS "ageSeconds",
    obtained_at AS "obtainedAt", renew_at AS "renewAt", expires_at AS "expiresAt", expires_in_raw AS "expiresInRaw",
    token_type AS "tokenType", rejected_at AS "rejectedAt", coalesce(failures, 0) AS "failures",
    last_error AS "lastError", next_attempt_at AS "nextAttemptAt"
  FROM (VALUES ($1::text)) AS ours (fingerprint)
  LEFT JOIN remote_tokens ON name = 'tenant' AND credentials_fingerprint = fingerprint`;
