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
       (SELECT x.cause FROM public.stalls x WHERE x.kind = 'session' AND x.subject = s.id) AS stalled,
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
COMMENT ON VIEW admin.sessions IS 'PV onboarding sessions, one row each, with the customer, the state, how they are watched, and why they are stalled.';
COMMENT ON COLUMN admin.sessions.session_id IS 'sessionId given by the remote service; the same in both systems.';
COMMENT ON COLUMN admin.sessions.stalled IS 'The cause for which it does not continue by itself; null if it does. See admin.stalled.';
COMMENT ON COLUMN admin.sessions.inverters IS 'How many inverters it has ever listed.';
COMMENT ON COLUMN admin.sessions.inverters_missing IS 'How many of them its last response no longer listed.';
COMMENT ON COLUMN admin.sessions.online_at IS 'When it was first recorded as online. Null: never. Compare with recorded_at, which is by the same clock.';
COMMENT ON COLUMN admin.sessions.checked_at IS 'When it was last read successfully: the time of its state and flags.';
COMMENT ON COLUMN admin.sessions.next_check_at IS 'When it is read next; overdue if in the past. Null if it is no longer watched.';
COMMENT ON COLUMN admin.sessions.being_read IS 'Whether a worker has claimed it and not completed the read.';
COMMENT ON COLUMN admin.sessions.last_error IS 'Why the last read failed or was not sent. Null after a good read and once closed.';
COMMENT ON COLUMN admin.sessions.failing_since IS 'When the first read after the last good one failed or was not sent. Null: the last read was good.';
