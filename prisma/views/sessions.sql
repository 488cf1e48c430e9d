-- An expiry that the remote service does not report is stuck only once a read has found it so.
CREATE OR REPLACE VIEW admin.sessions AS
SELECT s.id AS session_id,
       u.tenant_reference,
       s.user_id,
       s.grid_location_id,
       g.ean,
       s.brand,
       s.state,
       s.basis,
       s.rule,
       s.finished,
       s.active,
       s.expired,
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN s.state = 'awaiting_owner' THEN 'the owner, to finish the web flow'
         WHEN s.rule = 'inverters_before_finished' THEN 'the remote service, to call it finished: inverters are listed already'
         WHEN s.state = 'awaiting_installation' THEN 'the installation, to come online: the owner seems to have finished'
         WHEN s.state = 'online' THEN 'further inverters, until it is settled'
         WHEN s.state = 'expired' THEN 'an installation that comes online late'
         WHEN s.state = 'unrecognised' THEN 'an answer that the interface describes'
         WHEN s.state = 'lost' THEN 'the remote service, to know it again'
       END AS waiting_for,
       -- In the order in which one hides the other. A minute, five minutes, three failures: what passes by itself is not stuck. Without times
       -- and counts, which other columns have, so that reasons can be grouped.
       -- last_error is of the last read only while claimed_at was set back to checked_at (see session_polls.last_error).
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN p.session_id IS NULL THEN 'no worker watches it: it is not closed, and has no row in session_polls'
         WHEN b.lease_until < now() - interval '1 minute' THEN 'its reader died, and no other worker has taken over'
         WHEN s.rule = 'refused_on_every_path' THEN 'the remote service does not know it any more, or refuses it (401 or 403)'
         WHEN s.state = 'lost' THEN 'the remote service does not know it any more (404 or 410)'
         WHEN p.not_found >= 2 AND p.last_error LIKE 'refused%' THEN 'its last reads were refused on every path (401 or 403)'
         WHEN p.not_found >= 2 THEN 'its last reads found it on no path (404 or 410)'
         WHEN p.failures >= 3 THEN format('its last reads failed: %s', coalesce(p.last_error, 'no reason was recorded'))
         WHEN p.last_error IS NOT NULL AND (b.id IS NOT NULL OR p.claimed_at = p.checked_at) AND p.checked_at < now() - interval '5 minutes'
           THEN format('it could not be read: %s', p.last_error)
         WHEN b.id IS NULL AND p.due_at < now() - interval '5 minutes' THEN 'its read is overdue: see admin.poll_lag'
         WHEN p.flapping_since IS NOT NULL AND p.changes_clear_at > now() THEN
           'the responses of the remote service change too often; not every change is recorded'
         WHEN s.rule = 'too_many_inverters' THEN 'the remote service lists more inverters than a session can have'
         WHEN s.state = 'unrecognised' THEN format(
           'the interface does not describe these flags: finished=%s, active=%s, expired=%s',
           s.finished::text, s.active::text, coalesce(s.expired::text, 'absent'))
         -- By its last read, and not by the clock: until a read, the remote service may have called it expired.
         WHEN s.state IN ('awaiting_owner', 'awaiting_installation')
           AND s.expires_at < CASE WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END THEN
           'expires_at has passed, and the remote service has not called it expired'
         -- IN reads the missing once, by their partial index: few online sessions have any.
         WHEN s.state = 'online' AND s.id IN (SELECT i.session_id FROM public.inverters i WHERE i.missing_since IS NOT NULL)
           AND NOT EXISTS (SELECT FROM public.inverters i WHERE i.session_id = s.id AND i.missing_since IS NULL)
           THEN 'it is online, and all its inverters are missing'
       END AS stuck_reason,
       (SELECT count(*) FROM public.inverters i WHERE i.session_id = s.id) AS inverters,
       (SELECT count(*) FROM public.inverters i WHERE i.session_id = s.id AND i.missing_since IS NOT NULL) AS inverters_missing,
       s.created_at,
       s.updated_at,
       s.expires_at,
       s.recorded_at,
       s.state_changed_at,
       (SELECT min(t.at) FROM public.session_transitions t WHERE t.session_id = s.id AND t.to_state = 'online') AS online_at,
       s.changed_at,
       s.superseded_at,
       CASE WHEN p.session_id IS NULL THEN s.last_checked_at
            WHEN b.id IS NULL THEN p.claimed_at
            ELSE p.checked_at END AS checked_at,
       p.due_at AS next_check_at,
       b.id IS NOT NULL AS being_read,
       p.phase,
       p.failures,
       p.not_found,
       CASE WHEN b.id IS NOT NULL OR p.claimed_at = p.checked_at THEN p.last_error END AS last_error,
       s.closed_at,
       s.close_reason
  FROM public.onboarding_sessions s
  LEFT JOIN public.users u ON u.id = s.user_id
  LEFT JOIN public.grid_locations g ON g.id = s.grid_location_id
  LEFT JOIN public.session_polls p ON p.session_id = s.id
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id;
COMMENT ON VIEW admin.sessions IS 'PV onboarding sessions, one row each, with the customer, the state, how they are watched, and why they are stuck where that can be said.';
COMMENT ON COLUMN admin.sessions.session_id IS 'sessionId given by the remote service; the same in both systems.';
COMMENT ON COLUMN admin.sessions.state IS 'What the flags mean: awaiting_owner, awaiting_installation, online, expired, lost (404 or 410 repeatedly, on every path), unrecognised (flags that the interface does not describe). An online session stays online; an expired one may still come online.';
COMMENT ON COLUMN admin.sessions.waiting_for IS 'What has to happen next, in words. Null once closed.';
COMMENT ON COLUMN admin.sessions.stuck_reason IS 'The irregularity that keeps it from continuing, in words without times and counts, so that it can be grouped. Null if none is known. See admin.stuck.';
COMMENT ON COLUMN admin.sessions.inverters IS 'How many inverters it has ever listed.';
COMMENT ON COLUMN admin.sessions.inverters_missing IS 'How many of them its last answer no longer listed.';
COMMENT ON COLUMN admin.sessions.online_at IS 'When we saw it online first. Null when never. Counted from recorded_at it is by one clock, ours.';
COMMENT ON COLUMN admin.sessions.checked_at IS 'When it was last read with success: what state and flags are as of.';
COMMENT ON COLUMN admin.sessions.next_check_at IS 'When it is to be read next; in the past it is overdue. Null once closed.';
COMMENT ON COLUMN admin.sessions.being_read IS 'Whether a worker has claimed it and not finished.';
COMMENT ON COLUMN admin.sessions.phase IS 'Why it is watched, which decides how often: awaiting_owner, awaiting_installation, settling (online, further inverters may follow), late (expired, may still come online), unrecognised. Null once closed.';
COMMENT ON COLUMN admin.sessions.failures IS 'Reads in a row that failed or found nothing; doubles the interval each time. 0 after a good read, null once closed. A read that was not sent does not count.';
COMMENT ON COLUMN admin.sessions.not_found IS 'Consecutive reads that found the session on no path (404 or 410), or that were refused on every path (401 or 403) while other sessions were read. Too many make the session lost. Null once closed.';
COMMENT ON COLUMN admin.sessions.last_error IS 'Why the last read failed or was not sent. Null after a good read and once closed.';
COMMENT ON COLUMN admin.sessions.close_reason IS 'settled: online, and SETTLE_HOURS are over. late_window_over: expired (or past expires_at), and LATE_ONLINE_DAYS are over. lost: gone at the remote service. erased: its user was, which takes the place of an earlier reason, so that whoever holds the row knows. Null while it is watched.';
