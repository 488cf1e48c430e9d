CREATE OR REPLACE VIEW admin.registrations AS
SELECT r.id AS registration_id,
       r.tenant_reference,
       r.eans,
       r.status,
       r.user_id,
       r.attempts,
       r.last_error,
       r.next_attempt_at,
       r.sent_at,
       r.lease_token IS NOT NULL AS being_sent,
       r.created_at,
       r.updated_at
  FROM public.registrations r;
COMMENT ON VIEW admin.registrations IS 'Every registration, one row each.';
COMMENT ON COLUMN admin.registrations.registration_id IS 'Our id, the one in /registrations/{id}.';
COMMENT ON COLUMN admin.registrations.being_sent IS 'Whether a replica is sending it, or has just died while it did.';
