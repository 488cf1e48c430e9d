-- A session is claimed before it is read, so what the view had for an inverter that this very read brought could lie before its
-- first sight. The API says the same (src/onboarding/inverters.store.ts).
CREATE OR REPLACE VIEW admin.inverters AS
SELECT i.id AS inverter_id,
       i.session_id,
       u.tenant_reference,
       g.ean,
       s.brand,
       i.first_seen_at,
       greatest(i.first_seen_at,
                CASE WHEN i.missing_since IS NOT NULL THEN i.last_seen_at
                     WHEN p.session_id IS NULL THEN s.last_checked_at
                     WHEN b.id IS NULL THEN p.claimed_at
                     ELSE p.checked_at END) AS last_seen_at,
       i.missing_since
  FROM public.inverters i
  LEFT JOIN public.onboarding_sessions s ON s.id = i.session_id
  LEFT JOIN public.users u ON u.id = s.user_id
  LEFT JOIN public.grid_locations g ON g.id = s.grid_location_id
  LEFT JOIN public.session_polls p ON p.session_id = s.id
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id;

-- Prisma's own table; whoever applies these files by other means has none.
DO $$
BEGIN
  IF to_regclass('_prisma_migrations') IS NULL THEN RETURN; END IF;
  COMMENT ON TABLE _prisma_migrations IS 'Which migrations were applied here. Written by Prisma and by the start of the service.';
  COMMENT ON COLUMN _prisma_migrations.id IS 'Made up by whoever applied it.';
  COMMENT ON COLUMN _prisma_migrations.checksum IS 'SHA-256 of the file as it was applied.';
  COMMENT ON COLUMN _prisma_migrations.finished_at IS 'When it was through. Null while it runs, and for ever when it failed.';
  COMMENT ON COLUMN _prisma_migrations.migration_name IS 'Its folder in prisma/migrations.';
  COMMENT ON COLUMN _prisma_migrations.logs IS 'The error of one that failed.';
  COMMENT ON COLUMN _prisma_migrations.rolled_back_at IS 'When a person marked a failed one as rolled back (npx prisma migrate resolve).';
  COMMENT ON COLUMN _prisma_migrations.started_at IS 'When it was begun.';
  COMMENT ON COLUMN _prisma_migrations.applied_steps_count IS 'Prisma''s own count; says nothing here.';
END $$;
