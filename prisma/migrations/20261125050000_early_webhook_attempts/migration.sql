-- A success at an endpoint makes what waits for a retry there due before its time. The attempt that follows does not use up the retry
-- schedule, and must not repeat at every success: both need its count.
ALTER TABLE "webhook_deliveries" ADD COLUMN "early_attempts" INTEGER NOT NULL DEFAULT 0;
COMMENT ON COLUMN webhook_deliveries.early_attempts IS
  'Those of attempts that were made before their time by the retry schedule. They do not count towards it.';
