-- Where this database lives, so that a copy of it is recognised. The first start inserts the row.
CREATE TABLE "deployment" (
  "is_only" BOOLEAN NOT NULL DEFAULT true,
  "home" TEXT NOT NULL,
  CONSTRAINT "deployment_pkey" PRIMARY KEY ("is_only")
);
-- A database lives in one place.
ALTER TABLE "deployment" ADD CONSTRAINT "deployment_is_one_row" CHECK ("is_only");

CREATE TABLE "restores" (
  "id" SERIAL NOT NULL,
  "restored_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "references_checked_at" TIMESTAMPTZ(3),
  "last_sequence" BIGINT NOT NULL,
  "first_sequence" BIGINT NOT NULL,
  CONSTRAINT "restores_pkey" PRIMARY KEY ("id")
);

COMMENT ON TABLE deployment IS 'Where this database lives. One row.';
COMMENT ON COLUMN deployment.is_only IS 'Always true, so that there is one row.';
COMMENT ON COLUMN deployment.home IS 'Identifies the PostgreSQL cluster, the database and this table. A restored dump or a copy has another one, and the service refuses to start on it.';
COMMENT ON TABLE restores IS 'The restores of backups that an operator confirmed.';
COMMENT ON COLUMN restores.id IS 'Counts the restores.';
COMMENT ON COLUMN restores.restored_at IS 'When an operator confirmed it.';
COMMENT ON COLUMN restores.references_checked_at IS 'When an operator confirmed that everything registered after the backup was found. Until then, new registrations wait for a person.';
COMMENT ON COLUMN restores.last_sequence IS 'The newest sequence of the feed in the backup. 0 if there was none.';
COMMENT ON COLUMN restores.first_sequence IS 'New events get sequences above this one, so that none is given twice.';

-- As before, but above the first sequence of the last restore. By the primary key, since other plans are switched off here.
CREATE OR REPLACE FUNCTION sequence_events(wait boolean) RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_bitmapscan = off
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
BEGIN
  IF wait THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('pv-onboarding/events.sequence', 0));
  ELSIF NOT pg_try_advisory_xact_lock(hashtextextended('pv-onboarding/events.sequence', 0)) THEN
    RETURN;
  END IF;
  -- A snapshot of its own, taken after the lock, as only a VOLATILE function takes them: it must see what the previous holder committed.
  UPDATE domain_events AS event
     SET sequence = pending.nth + greatest((SELECT max(sequence) FROM domain_events),
                                           (SELECT first_sequence FROM restores ORDER BY id DESC LIMIT 1), 0)
    -- A feed that nobody has read for long is caught up with in steps, each well within the statement timeout.
    FROM unnest(ARRAY(SELECT position FROM domain_events WHERE sequence IS NULL ORDER BY position LIMIT 10000))
         WITH ORDINALITY AS pending(position, nth)
   WHERE event.position = pending.position;
  IF FOUND THEN
    PERFORM pg_notify('pv_onboarding_events', '');
  END IF;
END
$$;
