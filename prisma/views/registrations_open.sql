CREATE OR REPLACE VIEW admin.registrations_open AS
SELECT r.id AS registration_id,
       r.tenant_reference,
       r.eans,
       r.status,
       now() - r.created_at AS age,
       r.attempts,
       r.last_error,
       r.next_attempt_at,
       r.sent_at,
       r.created_at,
       r.updated_at,
       (SELECT x.cause FROM public.stalls x WHERE x.kind = 'registration' AND x.subject = r.id) AS stalled
  FROM public.registrations r
 WHERE r.status IN ('pending', 'uncertain');
COMMENT ON VIEW admin.registrations_open IS 'Registrations that are pending or uncertain, one row each.';
COMMENT ON COLUMN admin.registrations_open.registration_id IS 'Our id, the one in /registrations/{id}.';
COMMENT ON COLUMN admin.registrations_open.age IS 'For how long it has been requested.';
COMMENT ON COLUMN admin.registrations_open.stalled IS 'The cause for which it does not continue by itself; null if it does. See admin.stalled.';
