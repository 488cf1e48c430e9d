-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- The list of starts is ordered by this. CONCURRENTLY, so that sessions are started meanwhile.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "session_starts_created_at_id_idx" ON "session_starts" ("created_at", "id");
