-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- Retention deletes the oldest failed starts; almost no start fails. CONCURRENTLY, so that sessions are started meanwhile.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "session_starts_failed_idx" ON "session_starts" ("updated_at") WHERE "status" = 'failed' AND "orphans" = 0;
