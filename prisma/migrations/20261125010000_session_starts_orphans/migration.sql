-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- The status counts the orphans of the last 24 hours; almost no start has one. CONCURRENTLY, so that sessions are started meanwhile.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "session_starts_orphans_idx" ON "session_starts" ("updated_at") WHERE "orphans" > 0;
