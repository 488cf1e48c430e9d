-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- Retention deletes events, and PostgreSQL then looks for the deliveries of each. CONCURRENTLY, so that deliveries are written meanwhile.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_deliveries_position_idx" ON "webhook_deliveries"("position");
