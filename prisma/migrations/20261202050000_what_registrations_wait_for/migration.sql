-- The same columns, and waiting_for. The API reads it and what_to_do from this view, and the reason why a registration is stuck from
-- admin.stuck, so that each sentence is written once.
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
           'A worker should have sent it by now: is one running (ROLE worker or all)?'
         ELSE 'Nothing: it is sent again by itself. If it keeps failing, last_error says what to put right.'
       END AS what_to_do,
       r.created_at,
       r.updated_at,
       CASE
         WHEN r.status = 'uncertain' THEN 'a person, to decide: its outcome is unknown'
         WHEN r.lease_until < now() THEN 'a worker, to make it uncertain: its sender died'
         WHEN r.lease_token IS NOT NULL THEN 'the remote service, to respond'
         WHEN r.next_attempt_at < now() THEN 'a worker, to send it'
         ELSE 'its next attempt'
       END AS waiting_for
  FROM public.registrations r
 WHERE r.status IN ('pending', 'uncertain');
COMMENT ON COLUMN admin.registrations_open.waiting_for IS 'What it waits for, in words.';
