-- The time of a read is that of its claim, which may be before the time at which the inverters of its response are recorded.
CREATE OR REPLACE VIEW admin.inverters AS
SELECT i.id AS inverter_id,
       i.session_id,
       u.tenant_reference,
       g.ean,
       s.brand,
       i.first_seen_at,
       greatest(i.first_seen_at,
                CASE WHEN i.absent_since IS NOT NULL OR i.missing_since IS NOT NULL THEN i.last_seen_at
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
COMMENT ON VIEW admin.inverters IS 'Inverters and the sessions that listed them, one row for each pair.';
COMMENT ON COLUMN admin.inverters.inverter_id IS 'Inverter id given by the remote service.';
COMMENT ON COLUMN admin.inverters.last_seen_at IS 'When a response last listed it.';
