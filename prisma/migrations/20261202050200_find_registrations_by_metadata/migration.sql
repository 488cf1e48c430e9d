-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- Lists of registrations filter by metadata; see the index of users for its options. A registration is updated a few times, and none of
-- these updates was HOT, since its status and its next attempt are indexed.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "registrations_metadata_idx" ON "registrations" USING GIN ("metadata" jsonb_path_ops) WITH (fastupdate = off);
