CREATE OR REPLACE VIEW admin.erasures AS
SELECT e.id AS erasure_id,
       e.user_id,
       e.erased_at,
       e.grid_locations,
       e.registrations,
       e.sessions,
       e.observations,
       e.inverters,
       e.events,
       e.consents
  FROM public.erasures e;
COMMENT ON VIEW admin.erasures IS 'Receipts: how much was erased, one row for each erasure. admin.audit_log has who requested it, under the user_id, or the erasure_id if there is none.';
COMMENT ON COLUMN admin.erasures.erasure_id IS 'Our id of the erasure.';
