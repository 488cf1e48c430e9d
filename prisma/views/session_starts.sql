CREATE OR REPLACE VIEW admin.session_starts AS
SELECT st.id AS start_id,
       u.tenant_reference,
       g.ean,
       st.grid_location_id,
       st.brand,
       st.status,
       st.attempts,
       st.orphans,
       st.session_id,
       st.last_error,
       st.status = 'sending' AND st.lease_until >= now() AS being_sent,
       st.created_at,
       st.updated_at
  FROM public.session_starts st
  LEFT JOIN public.grid_locations g ON g.id = st.grid_location_id
  LEFT JOIN public.users u ON u.id = g.user_id;
COMMENT ON VIEW admin.session_starts IS 'Every request to start a session, one row each, also those that failed and so have no session.';
COMMENT ON COLUMN admin.session_starts.start_id IS 'Our id of the request.';
COMMENT ON COLUMN admin.session_starts.being_sent IS 'Whether a replica is sending it now.';
