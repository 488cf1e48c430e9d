CREATE OR REPLACE VIEW admin.erasures AS
SELECT e.id AS erasure_id,
       e.user_id,
       e.erased_at,
       e.grid_locations,
       e.registrations,
       e.sessions,
       e.observations,
       e.inverters,
       e.events
  FROM public.erasures e;
COMMENT ON VIEW admin.erasures IS 'Receipts of what was erased, one row each, in numbers. Who asked stands in admin.audit_log under the user_id, or the erasure_id where there is none.';
COMMENT ON COLUMN admin.erasures.erasure_id IS 'Our id of the erasure.';
