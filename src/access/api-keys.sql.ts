import type { Statement } from '../platform/database/database.js';

// Runs for every request that misses the cache, so it is one probe of the unique index on key_hash. It also decides, by the database's
// clock, whether last_used_at is old enough to be updated, so that most requests write nothing.
export const FIND_BY_HASH: Statement = {
  name: 'api-keys-find-by-hash',
  text: `
    SELECT id, name, scopes,
           last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute' AS "useIsStale"
    FROM api_keys WHERE key_hash = $1 AND revoked_at IS NULL`,
};

/** Returns which of these keys are revoked. */
export const FIND_REVOKED: Statement = {
  name: 'api-keys-find-revoked',
  text: 'SELECT id FROM api_keys WHERE id = ANY ($1::uuid[]) AND revoked_at IS NOT NULL',
};

// Repeats the condition: of many concurrent requests that saw a stale last_used_at, one writes.
export const NOTE_USE: Statement = {
  name: 'api-keys-note-use',
  text: `
    UPDATE api_keys SET last_used_at = clock_timestamp()
    WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute')`,
};

export const INSERT_KEY: Statement = {
  name: 'api-keys-insert',
  text: `
    INSERT INTO api_keys (name, scopes, key_hash, created_by) VALUES ($1, $2, $3, $4)
    RETURNING id, created_at AS "createdAt"`,
};

// Revoking a revoked key changes nothing and keeps the first instant. No row means that the key does not exist.
export const REVOKE_KEY: Statement = {
  name: 'api-keys-revoke',
  text: `
    WITH known AS (SELECT id, revoked_at FROM api_keys WHERE id = $1 FOR UPDATE)
    UPDATE api_keys SET revoked_at = coalesce(api_keys.revoked_at, clock_timestamp())
    FROM known WHERE api_keys.id = known.id
    RETURNING known.revoked_at IS NULL AS "wasActive"`,
};
