-- A migration and its record commit together, so most records are finished when they appear. Without the table, as in a database of
-- Prisma's own, there is nothing to describe.
DO $$
BEGIN
  IF to_regclass('_prisma_migrations') IS NULL THEN RETURN; END IF;
  COMMENT ON COLUMN _prisma_migrations.id IS 'A random UUID.';
  COMMENT ON COLUMN _prisma_migrations.finished_at IS 'When it was applied. Null if a script that cannot run in a transaction is running or was interrupted; the next start applies such a script again.';
  COMMENT ON COLUMN _prisma_migrations.logs IS 'The error of a script that cannot run in a transaction. Another script that fails leaves no record; its error is in the log.';
  COMMENT ON COLUMN _prisma_migrations.rolled_back_at IS 'When a script that cannot run in a transaction failed, or when its interrupted run was begun again. Also set by npx prisma migrate resolve.';
END $$;
