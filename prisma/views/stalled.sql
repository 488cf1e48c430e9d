-- The row of a session that nobody waits for any more is deleted by the next search for stalled sessions.
CREATE OR REPLACE VIEW admin.stalled AS
SELECT x.session_id,
       u.tenant_reference,
       s.user_id,
       s.grid_location_id,
       g.ean,
       s.brand,
       s.state,
       x.cause,
       x.since,
       x.evidence,
       x.raised_at
  FROM public.session_stalls x
  JOIN public.onboarding_sessions s ON s.id = x.session_id
   AND s.closed_at IS NULL AND s.superseded_at IS NULL AND s.state IN ('awaiting_owner', 'awaiting_installation', 'unrecognised')
  JOIN public.users u ON u.id = s.user_id
  JOIN public.grid_locations g ON g.id = s.grid_location_id;
COMMENT ON VIEW admin.stalled IS 'Sessions that wait for longer than can be expected, one row each, with the cause. GET /api/v1/onboarding/pv?stalled=any lists the same.';
