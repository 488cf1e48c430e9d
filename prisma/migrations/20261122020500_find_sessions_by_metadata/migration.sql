-- Lists of sessions filter by metadata; see the index of users for its options. Polls do not write to this table, and its updates were
-- never HOT, since changed_at is indexed.
CREATE INDEX CONCURRENTLY "onboarding_sessions_metadata_idx" ON "onboarding_sessions" USING GIN ("metadata" jsonb_path_ops) WITH (fastupdate = off);
