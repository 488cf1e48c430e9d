-- Retention pages through the registrations that were rejected or discarded; almost all others become users. CONCURRENTLY, so that users
-- are registered meanwhile.
CREATE INDEX CONCURRENTLY "registrations_ended_idx" ON "registrations" ("id") WHERE "status" IN ('rejected', 'discarded');
