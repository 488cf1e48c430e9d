-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- Lists of registrations filter by an EAN, and each request looks for other references with its EANs. Without fastupdate, as for metadata.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "registrations_eans_idx" ON "registrations" USING GIN ("eans") WITH (fastupdate = off);
