-- Gives events their sequence (src/events/sequence.sql.ts has the reasons). As a function, because what is sent as a DO block is
-- compiled and planned again each time: 0.75 ms for one event, against 0.43 ms so.
--
-- Its plan is kept by each connection from the first events on, so it must be one that is good for any number of them: by the index of
-- those that wait, and by primary key. A bitmap scan would be neither: it marks no dead entry, so every numbering passed all that had
-- waited since the last vacuum, and the index of those that wait grew with the events (32,000 of them: 2.1 ms and 729 kB; without it
-- 0.9 ms and 16 kB).
CREATE FUNCTION sequence_events(wait boolean) RETURNS void
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
     SET sequence = (SELECT coalesce(max(sequence), 0) FROM domain_events) + pending.nth
    -- A feed that nobody has read for long is caught up with in steps, each well within the statement timeout.
    FROM unnest(ARRAY(SELECT position FROM domain_events WHERE sequence IS NULL ORDER BY position LIMIT 10000))
         WITH ORDINALITY AS pending(position, nth)
   WHERE event.position = pending.position;
  IF FOUND THEN
    PERFORM pg_notify('pv_onboarding_events', '');
  END IF;
END
$$;
COMMENT ON FUNCTION sequence_events(boolean) IS 'Gives committed events their sequence, ten thousand at most, and announces it on the channel pv_onboarding_events. One at a time: false does nothing when another is at it.';
