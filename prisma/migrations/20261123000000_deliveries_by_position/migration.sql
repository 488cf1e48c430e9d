-- Retention deletes events, and PostgreSQL then looks for the deliveries of each. CONCURRENTLY, so that deliveries are written meanwhile.
CREATE INDEX CONCURRENTLY "webhook_deliveries_position_idx" ON "webhook_deliveries"("position");
