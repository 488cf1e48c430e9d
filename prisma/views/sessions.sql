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
         WHEN s.state = 'unrecognised' THEN 'a response that the interface describes'
         WHEN s.state = 'lost' THEN 'the remote service, to know it again'
       END AS waiting_for,
       -- The most important reason first. A minute, five minutes, three failures: what passes by itself is not stuck. Reasons contain no
       -- times or counts, so that they can be grouped. last_error belongs to the last read only if claimed_at equals checked_at. One read
       -- that failed passes by itself: a second failure has to confirm it, or the next read is overdue.
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN p.session_id IS NULL THEN 'no worker watches it: it is not closed, and has no row in session_polls'
         WHEN b.lease_until < now() - interval '1 minute' THEN 'its reader died, and no other worker has taken over'
         WHEN s.rule = 'refused_on_every_path' THEN 'the remote service does not know it any more, or refuses it (401 or 403)'
         WHEN s.state = 'lost' THEN 'the remote service does not know it any more (404 or 410)'
         WHEN p.not_found >= 2 AND p.last_error LIKE 'refused%' THEN 'its last reads were refused on every path (401 or 403)'
         WHEN p.not_found >= 2 THEN 'its last reads found it on no path (404 or 410)'
         WHEN p.failures >= 3 THEN format('its last reads failed: %s', coalesce(p.last_error, 'no reason was recorded'))
         WHEN p.last_error IS NOT NULL AND (b.id IS NOT NULL OR p.claimed_at = p.checked_at)
           AND greatest(p.checked_at, p.failing_since) < now() - interval '5 minutes'
           AND (p.failures <> 1 OR b.id IS NULL AND p.due_at < now() - interval '5 minutes') THEN format('it could not be read: %s', p.last_error)
         WHEN b.id IS NULL AND p.due_at < now() - interval '5 minutes' THEN 'its read is overdue: see admin.poll_lag'
         WHEN p.flapping_since IS NOT NULL AND p.changes_clear_at > now() THEN
           'the responses of the remote service change too often; not every change is recorded'
         WHEN s.rule = 'too_many_inverters' THEN 'the remote service lists more inverters than a session can have'
         WHEN s.state = 'unrecognised' THEN format(
           'the interface does not describe these flags: finished=%s, active=%s, expired=%s',
           s.finished::text, s.active::text, coalesce(s.expired::text, 'absent'))
         -- Compares with its last read instead of the clock: the remote service may have set expired since.
         WHEN s.state IN ('awaiting_owner', 'awaiting_installation')
           AND s.expires_at < CASE WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END THEN
           'expires_at has passed, and the remote service has not called it expired'
         -- IN reads the few missing inverters once, by their partial index.
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
       s.close_reason,
       CASE WHEN p.failing_since > CASE WHEN b.id IS NULL THEN p.claimed_at ELSE p.checked_at END THEN p.failing_since END AS failing_since
  FROM public.onboarding_sessions s
  LEFT JOIN public.users u ON u.id = s.user_id
  LEFT JOIN public.grid_locations g ON g.id = s.grid_location_id
  LEFT JOIN public.session_polls p ON p.session_id = s.id
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id;
COMMENT ON VIEW admin.sessions IS 'PV onboarding sessions, one row each, with the customer, the state, how they are watched, and why they are stuck if that is known.';
COMMENT ON COLUMN admin.sessions.session_id IS 'sessionId given by the remote service; the same in both systems.';
COMMENT ON COLUMN admin.sessions.waiting_for IS 'What has to happen next, in words. Null once closed.';
COMMENT ON COLUMN admin.sessions.stuck_reason IS 'The irregularity that keeps it from continuing, in words without times and counts, so that it can be grouped. Null if none is known. See admin.stuck.';
COMMENT ON COLUMN admin.sessions.inverters IS 'How many inverters it has ever listed.';
COMMENT ON COLUMN admin.sessions.inverters_missing IS 'How many of them its last response no longer listed.';
COMMENT ON COLUMN admin.sessions.online_at IS 'When it was first recorded as online. Null: never. Compare with recorded_at, which is by the same clock.';
COMMENT ON COLUMN admin.sessions.checked_at IS 'When it was last read successfully: the time of its state and flags.';
COMMENT ON COLUMN admin.sessions.next_check_at IS 'When it is read next; overdue if in the past. Null once closed.';
COMMENT ON COLUMN admin.sessions.being_read IS 'Whether a worker has claimed it and not completed the read.';
COMMENT ON COLUMN admin.sessions.last_error IS 'Why the last read failed or was not sent. Null after a good read and once closed.';
COMMENT ON COLUMN admin.sessions.failing_since IS 'When the first read after the last good one failed or was not sent. Null: the last read was good.';
