-- `since` is when the fault began, not the last good read before it, which may be long ago. An inverter counts once five customers list it
-- at once: one that changed hands has two.
CREATE OR REPLACE VIEW admin.stuck AS
-- A superseded session is not stuck, because its successor counts. A session that was closed as lost needs a new start. OFFSET 0 makes
-- PostgreSQL compute the reason of each session once, and still filter by the index of the id.
SELECT 'session' AS kind,
       s.session_id AS id,
       (SELECT u.tenant_reference FROM public.users u WHERE u.id = s.user_id) AS tenant_reference,
       coalesce(stuck.reason, 'it was closed, because the remote service no longer knows it') AS reason,
       coalesce(CASE
         WHEN s.closed_at IS NOT NULL THEN s.closed_at
         WHEN stuck.reason LIKE 'its last reads%' OR stuck.reason LIKE 'it could not be read%' THEN s.failing_since
         WHEN stuck.reason LIKE 'its read is overdue%' THEN s.next_check_at
         WHEN stuck.reason LIKE 'its reader died%' THEN (
           SELECT b.lease_until FROM public.session_polls p JOIN public.poll_batches b ON b.id = p.batch_id WHERE p.session_id = s.session_id)
         WHEN stuck.reason LIKE 'the responses of the remote service change too often%' THEN (
           SELECT p.flapping_since FROM public.session_polls p WHERE p.session_id = s.session_id)
         WHEN stuck.reason LIKE 'expires_at has passed%' THEN s.expires_at
         WHEN stuck.reason LIKE 'it is online, and all its inverters%' THEN (
           SELECT max(i.missing_since) FROM public.inverters i WHERE i.session_id = s.session_id)
         WHEN stuck.reason NOT LIKE 'no worker watches it%' THEN s.state_changed_at
       END, s.checked_at) AS since,
       CASE
         WHEN s.closed_at IS NOT NULL
           OR stuck.reason LIKE 'the remote service does not know it%'
           OR stuck.reason LIKE 'the responses of the remote service change too often%'
           OR stuck.reason LIKE 'expires_at has passed%' AND s.state = 'awaiting_owner' THEN
           format('Ask the provider, and start a new one: POST /api/v1/onboarding/pv/%s with the body %s', s.grid_location_id,
             jsonb_strip_nulls(jsonb_build_object('brand', s.brand, 'reuse', false)))
         WHEN stuck.reason LIKE 'expires_at has passed%' THEN
           'Compare with the usual time of its brand from start to online, then ask the provider.'
         WHEN stuck.reason LIKE 'the remote service lists more%' THEN 'Ask the provider why it lists so many inverters.'
         WHEN stuck.reason LIKE 'the interface does not describe%' THEN
           'Ask the provider what the flags mean. If a release knows them: pv-onboarding rederive'
         WHEN stuck.reason = 'it is online, and all its inverters are missing' THEN
           'Ask the customer or the provider whether the inverters were removed.'
         ELSE format('If the cause is gone: POST /api/v1/onboarding/pv/%s/refresh', s.session_id)
       END AS what_to_do
  FROM admin.sessions s CROSS JOIN LATERAL (SELECT s.stuck_reason AS reason OFFSET 0) AS stuck
 WHERE s.superseded_at IS NULL AND (s.closed_at IS NULL OR s.close_reason = 'lost' AND s.closed_at > now() - interval '30 days')
   AND (stuck.reason IS NOT NULL OR s.closed_at IS NOT NULL)
UNION ALL
SELECT 'registration', r.registration_id, r.tenant_reference,
       CASE r.status WHEN 'uncertain' THEN 'its outcome is unknown' ELSE format('it has been pending for over an hour: %s', coalesce(r.last_error, 'no reason was recorded')) END,
       CASE r.status WHEN 'uncertain' THEN coalesce(r.sent_at, r.created_at) ELSE r.created_at END,
       r.what_to_do
  FROM admin.registrations_open r
 WHERE r.status = 'uncertain' OR r.age > interval '1 hour'
UNION ALL
SELECT 'start', st.id, u.tenant_reference,
       'its lease expired, and no worker has ended it',
       st.lease_until,
       'A worker should have ended it: is one running (ROLE worker or all)?'
  FROM public.session_starts st
  LEFT JOIN public.grid_locations g ON g.id = st.grid_location_id
  LEFT JOIN public.users u ON u.id = g.user_id
 WHERE st.status = 'sending' AND st.lease_until < now() - interval '1 minute'
UNION ALL
SELECT 'inverter', listed.id, NULL,
       'the remote service lists it for five or more customers at once',
       listed.at::timestamptz(3),
       'Ask the provider at once whose it is: customers may be mixed up.'
  FROM (
    SELECT i.id, min(i.first_seen_at) AS at, row_number() OVER (PARTITION BY i.id ORDER BY min(i.first_seen_at)) AS customer
      FROM public.inverters i
      JOIN public.onboarding_sessions s ON s.id = i.session_id
     WHERE i.missing_since IS NULL
       AND i.id IN (SELECT id FROM public.inverters WHERE first_seen_at > now() - interval '30 days')
     GROUP BY i.id, s.user_id) AS listed
 WHERE listed.customer = 5;
COMMENT ON VIEW admin.stuck IS 'Everything that does not continue by itself, or has not for too long: sessions, registrations and starts, one row each.';
COMMENT ON COLUMN admin.stuck.kind IS 'session, registration, start or inverter.';
COMMENT ON COLUMN admin.stuck.id IS 'The id of the session, registration, start or inverter.';
COMMENT ON COLUMN admin.stuck.reason IS 'The fault, in words without times and counts, so that it can be grouped.';
COMMENT ON COLUMN admin.stuck.since IS 'When the fault began: the first failed read, the change of state, the missed due time or the closing of a session; the creation of a pending and the sending of an uncertain registration; the end of the lease of a start; the fifth customer of an inverter.';
