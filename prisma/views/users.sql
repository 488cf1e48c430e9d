-- array_agg without the filter would show an erased user as the owner of one unknown EAN for each location.
CREATE OR REPLACE VIEW admin.users AS
SELECT u.id AS user_id,
       u.tenant_reference,
       u.tenant_name,
       u.first_name,
       u.last_name,
       u.email,
       u.metadata,
       (SELECT array_agg(g.ean ORDER BY g.ean) FILTER (WHERE g.ean IS NOT NULL)
          FROM public.grid_locations g WHERE g.user_id = u.id) AS eans,
       (SELECT count(*) FROM public.onboarding_sessions s WHERE s.user_id = u.id) AS sessions,
       u.created_at,
       u.updated_at,
       u.registered_at,
       u.erased_at
  FROM public.users u;
COMMENT ON VIEW admin.users IS 'Users that the remote service has confirmed, one row each, also erased ones. The only view with personal data besides EAN and tenant reference.';
COMMENT ON COLUMN admin.users.user_id IS 'User id given by the remote service; the same in both systems.';
COMMENT ON COLUMN admin.users.eans IS 'EANs of the user''s grid locations. Null once erased.';
COMMENT ON COLUMN admin.users.sessions IS 'How many onboarding sessions were ever started for the user.';
