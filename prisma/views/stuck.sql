-- An inverter that five or more customers list at once: one that changed hands has two.
CREATE OR REPLACE VIEW admin.stuck AS
-- A superseded session is not stuck, because its successor counts. A session that was closed as lost needs a new start. OFFSET 0 makes
-- PostgreSQL compute the reason of each session once, and still filter by the index of the id.
SELECT 'session' AS kind,
       s.session_id AS id,
       (SELECT u.tenant_reference FROM public.users u WHERE u.id = s.user_id) AS tenant_reference,
       coalesce(stuck.reason, 'it was closed, because the remote service no longer knows it') AS reason,
       coalesce(s.closed_at, s.checked_at) AS since,
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
       r.created_at,
       r.what_to_do
  FROM admin.registrations_open r
 WHERE r.status = 'uncertain' OR r.age > interval '1 hour'
UNION ALL
SELECT 'start', st.id, u.tenant_reference,
       'its lease expired, and no worker has ended it',
       st.updated_at,
       'A worker should have ended it: is one running (ROLE worker or all)?'
  FROM public.session_starts st
  LEFT JOIN public.grid_locations g ON g.id = st.grid_location_id
  LEFT JOIN public.users u ON u.id = g.user_id
 WHERE st.status = 'sending' AND st.lease_until < now() - interval '1 minute'
UNION ALL
SELECT 'inverter', i.id, NULL,
       'the remote service lists it for five or more customers at once',
       min(i.first_seen_at)::timestamptz(3),
       'Ask the provider at once whose it is: customers may be mixed up.'
  FROM public.inverters i
  JOIN public.onboarding_sessions s ON s.id = i.session_id
 WHERE i.missing_since IS NULL
   AND i.id IN (SELECT id FROM public.inverters WHERE first_seen_at > now() - interval '30 days')
 GROUP BY i.id
HAVING count(DISTINCT s.user_id) >= 5;
COMMENT ON VIEW admin.stuck IS 'Everything that does not continue by itself, or has not for too long: sessions, registrations and starts, one row each.';
COMMENT ON COLUMN admin.stuck.kind IS 'session, registration, start or inverter.';
COMMENT ON COLUMN admin.stuck.id IS 'The id of the session, registration, start or inverter.';
COMMENT ON COLUMN admin.stuck.reason IS 'The fault, in words without times and counts, so that it can be grouped.';
COMMENT ON COLUMN admin.stuck.since IS 'Since when: the last successful read or the closing of a session, the creation of a registration, the last change of a start.';
