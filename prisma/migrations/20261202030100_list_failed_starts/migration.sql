-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- Few starts fail: without this index, a list of failed starts would read most of the table. CONCURRENTLY, so that sessions are started meanwhile.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "session_starts_failed_created_at_id_idx" ON "session_starts" ("created_at", "id") WHERE "status" = 'failed';
