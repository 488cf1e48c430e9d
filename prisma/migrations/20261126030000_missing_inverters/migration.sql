-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- The status counts the sessions whose inverters are missing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "inverters_missing_idx" ON "inverters" ("session_id") WHERE "missing_since" IS NOT NULL;
