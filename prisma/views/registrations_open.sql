-- If the remote service holds back the calls, no worker is to blame for an overdue registration.
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
       CASE
         WHEN r.status = 'uncertain' THEN format(
           'Ask the provider whether a user with this tenant reference exists. If so: POST /api/v1/registrations/%1$s/resolve '
           'with the user object they confirm. If not: POST /api/v1/registrations/%1$s/retry sends it again. To give it up: '
           'POST /api/v1/registrations/%1$s/discard.', r.id)
         WHEN r.lease_until < now() THEN 'Its sender died; a worker makes it uncertain within seconds. If none does: is one running (ROLE worker or all)?'
         WHEN r.lease_token IS NOT NULL THEN 'Nothing: it is being sent right now.'
         WHEN r.next_attempt_at < now() - interval '5 minutes' THEN
           CASE WHEN held.back
             THEN 'Nothing: the remote service fails or asked to wait. A worker sends it once the remote service has recovered.'
             ELSE 'A worker should have sent it by now: is one running (ROLE worker or all)?'
           END
         ELSE 'Nothing: it is sent again by itself. If it keeps failing, last_error says what to put right.'
       END AS what_to_do,
       r.created_at,
       r.updated_at,
       CASE
         WHEN r.status = 'uncertain' THEN 'a person, to decide: its outcome is unknown'
         WHEN r.lease_until < now() THEN 'a worker, to make it uncertain: its sender died'
         WHEN r.lease_token IS NOT NULL THEN 'the remote service, to respond'
         WHEN r.next_attempt_at < now() THEN
           CASE WHEN held.back THEN 'the remote service, to recover' ELSE 'a worker, to send it' END
         ELSE 'its next attempt'
       END AS waiting_for
  FROM public.registrations r
  CROSS JOIN (SELECT EXISTS (SELECT FROM public.remote_operations o
                              WHERE o.operation = 'register_user' AND (o.open_until IS NOT NULL OR o.quiet_until > now())) AS back) AS held
 WHERE r.status IN ('pending', 'uncertain');
COMMENT ON VIEW admin.registrations_open IS 'Registrations that are pending or uncertain, one row each.';
COMMENT ON COLUMN admin.registrations_open.registration_id IS 'Our id, the one in /registrations/{id}.';
COMMENT ON COLUMN admin.registrations_open.age IS 'For how long it has been requested.';
COMMENT ON COLUMN admin.registrations_open.what_to_do IS 'What a person can do about it, in words.';
COMMENT ON COLUMN admin.registrations_open.waiting_for IS 'What it waits for, in words.';
