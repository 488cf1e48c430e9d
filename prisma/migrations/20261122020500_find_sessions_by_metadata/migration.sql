-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- Lists of sessions filter by metadata; see the index of users for its options. Polls do not write to this table, and its updates were
-- never HOT, since changed_at is indexed.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "onboarding_sessions_metadata_idx" ON "onboarding_sessions" USING GIN ("metadata" jsonb_path_ops) WITH (fastupdate = off);
