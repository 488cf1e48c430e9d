-- The same columns. stuck_reason now has the same text for the same fault, and names lost sessions and those without an inverter.
CREATE OR REPLACE VIEW admin.sessions AS
SELECT s.id AS session_id,
       u.tenant_reference,
       s.user_id,
       s.grid_location_id,
       g.ean,
       s.brand,
       s.state,
       s.basis,
       s.rule,
       s.finished,
       s.active,
       s.expired,
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN s.state = 'awaiting_owner' THEN 'the owner, to finish the web flow'
         WHEN s.rule = 'inverters_before_finished' THEN 'the remote service, to call it finished: inverters are listed already'
         WHEN s.state = 'awaiting_installation' THEN 'the installation, to come online: the owner seems to have finished'
         WHEN s.state = 'online' THEN 'further inverters, until it is settled'
         WHEN s.state = 'expired' THEN 'an installation that comes online late'
         WHEN s.state = 'unrecognised' THEN 'an answer that the interface describes'
         WHEN s.state = 'lost' THEN 'the remote service, to know it again'
       END AS waiting_for,
       -- In the order in which one hides the other. A minute, five minutes, three failures: what passes by itself is not stuck. Without times
       -- and counts, which other columns have, so that reasons can be grouped.
       -- last_error is of the last read only while claimed_at was set back to checked_at (see session_polls.last_error).
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN p.session_id IS NULL THEN 'no worker watches it: it is not closed, and has no row in session_polls'
         WHEN b.lease_until < now() - interval '1 minute' THEN 'its reader died, and no other worker has taken over'
         WHEN s.state = 'lost' THEN 'the remote service does not know it any more (404 or 410)'
         WHEN p.not_found >= 2 THEN 'its last reads found it on no path (404 or 410)'
         WHEN p.failures >= 3 THEN format('its last reads failed: %s', coalesce(p.last_error, 'no reason was recorded'))
         WHEN p.last_error IS NOT NULL AND (b.id IS NOT NULL OR p.claimed_at = p.checked_at) AND p.checked_at < now() - interval '5 minutes'
           THEN format('it could not be read: %s', p.last_error)
         WHEN b.id IS NULL AND p.due_at < now() - interval '5 minutes' THEN 'its read is overdue: see admin.poll_lag'
         WHEN p.flapping_since IS NOT NULL AND p.changes_clear_at > now() THEN
           'the responses of the remote service change too often; not every change is recorded'
         WHEN s.rule = 'too_many_inverters' THEN 'the remote service lists more inverters than a session can have'
         WHEN s.state = 'unrecognised' THEN format(
           'the interface does not describe these flags: finished=%s, active=%s, expired=%s',
           s.finished::text, s.active::text, coalesce(s.expired::text, 'absent'))
         WHEN s.state IN ('awaiting_owner', 'awaiting_installation') AND s.expires_at < now() THEN
           'expires_at has passed, and the remote service has not called it expired'
         WHEN s.state = 'online' AND EXISTS (SELECT FROM public.inverters i WHERE i.session_id = s.id)
           AND NOT EXISTS (SELECT FROM public.inverters i WHERE i.session_id = s.id AND i.missing_since IS NULL)
           THEN 'it is online, and all its inverters are missing'
       END AS stuck_reason,
       (SELECT count(*) FROM public.inverters i WHERE i.session_id = s.id) AS inverters,
       (SELECT count(*) FROM public.inverters i WHERE i.session_id = s.id AND i.missing_since IS NOT NULL) AS inverters_missing,
       s.created_at,
       s.updated_at,
       s.expires_at,
       s.recorded_at,
       s.state_changed_at,
       (SELECT min(t.at) FROM public.session_transitions t WHERE t.session_id = s.id AND t.to_state = 'online') AS online_at,
       s.changed_at,
       s.superseded_at,
       CASE WHEN p.session_id IS NULL THEN s.last_checked_at
            WHEN b.id IS NULL THEN p.claimed_at
            ELSE p.checked_at END AS checked_at,
       p.due_at AS next_check_at,
       b.id IS NOT NULL AS being_read,
       p.phase,
       p.failures,
       p.not_found,
       CASE WHEN b.id IS NOT NULL OR p.claimed_at = p.checked_at THEN p.last_error END AS last_error,
       s.closed_at,
       s.close_reason
  FROM public.onboarding_sessions s
  LEFT JOIN public.users u ON u.id = s.user_id
  LEFT JOIN public.grid_locations g ON g.id = s.grid_location_id
  LEFT JOIN public.session_polls p ON p.session_id = s.id
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id;
COMMENT ON COLUMN admin.sessions.stuck_reason IS 'The irregularity that keeps it from continuing, in words without times and counts, so that it can be grouped. Null if none is known. See admin.stuck.';

CREATE VIEW admin.stuck AS
-- A superseded session has a successor, which is what counts. A session that was closed as lost needs a new start.
SELECT 'session' AS kind,
       s.session_id AS id,
       s.tenant_reference,
       coalesce(s.stuck_reason, 'it was closed, because the remote service no longer knows it') AS reason,
       coalesce(s.closed_at, s.checked_at) AS since,
       CASE
         WHEN s.state = 'lost' THEN format('Ask the provider, and start a new one: POST /api/v1/onboarding/pv/%s', s.grid_location_id)
         WHEN s.state = 'online' THEN 'Ask the customer or the provider whether the inverters were removed.'
         WHEN s.state = 'unrecognised' THEN 'Ask the provider what the flags mean. If a release knows them: pv-onboarding rederive'
         ELSE format('If the cause is gone: POST /api/v1/onboarding/pv/%s/refresh', s.session_id)
       END AS what_to_do
  FROM admin.sessions s
 WHERE s.superseded_at IS NULL
   AND (s.stuck_reason IS NOT NULL OR s.close_reason = 'lost' AND s.closed_at > now() - interval '30 days')
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
 WHERE st.status = 'sending' AND st.lease_until < now() - interval '1 minute';
COMMENT ON VIEW admin.stuck IS 'Everything that does not continue by itself, or has not for too long: sessions, registrations and starts, one row each.';
COMMENT ON COLUMN admin.stuck.kind IS 'session, registration or start.';
COMMENT ON COLUMN admin.stuck.id IS 'The id of the session, registration or start.';
COMMENT ON COLUMN admin.stuck.tenant_reference IS 'The reference of the customer. Null if erased.';
COMMENT ON COLUMN admin.stuck.reason IS 'The fault, in words without times and counts, so that it can be grouped.';
COMMENT ON COLUMN admin.stuck.since IS 'Since when: the last successful read or the close of a session, the creation of a registration, the last write of a start.';
COMMENT ON COLUMN admin.stuck.what_to_do IS 'What a person can do about it, in words.';

-- Default privileges give the view to the reader, if the role existed when they were granted. Granted by name too, for a role that was made
-- by hand since.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pv_onboarding_reader')
     AND has_schema_privilege('pv_onboarding_reader', 'admin', 'USAGE') THEN
    GRANT SELECT ON admin.stuck TO pv_onboarding_reader;
  END IF;
END $$;
