-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- Retention pages through the registrations that were rejected or discarded; almost all others become users. CONCURRENTLY, so that users
-- are registered meanwhile.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "registrations_ended_idx" ON "registrations" ("id") WHERE "status" IN ('rejected', 'discarded');
