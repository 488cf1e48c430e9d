-- What administrators read: views in the schema `admin`, and a role that can read them and nothing else. The views are a
-- contract, the tables behind them are not. docs/sql.md has the questions that they answer.
--
-- Rules that all of them keep:
-- * Nothing that opens a door: no startUrl, token, ciphertext or hash of a key.
-- * Names and e-mail addresses only in admin.users, and so the tenant's own metadata, which may hold any such thing.
-- * A filter on an id reaches the index of the table behind it, also with a million sessions. Hence no DISTINCT, no window
--   function and no GROUP BY in a view of rows, and everything looked up beside a row is a LEFT JOIN to a unique key or a
--   subquery in the select list: the planner drops those whose columns a query does not ask for.

CREATE SCHEMA admin;
COMMENT ON SCHEMA admin IS 'Read-only views for administrators (role pv_onboarding_reader). Their names and columns are a contract; the tables of public are not.';


CREATE VIEW admin.users AS
SELECT u.id AS user_id,
       u.tenant_reference,
       u.tenant_name,
       u.first_name,
       u.last_name,
       u.email,
       u.metadata,
       (SELECT array_agg(g.ean ORDER BY g.ean) FROM public.grid_locations g WHERE g.user_id = u.id) AS eans,
       (SELECT count(*) FROM public.onboarding_sessions s WHERE s.user_id = u.id) AS sessions,
       u.created_at,
       u.updated_at,
       u.registered_at
  FROM public.users u;
COMMENT ON VIEW admin.users IS 'Users that the remote service has confirmed, one row each. The only view with personal data besides EAN and tenant reference.';
COMMENT ON COLUMN admin.users.user_id IS 'User id given by the remote service; the same in both systems.';
COMMENT ON COLUMN admin.users.eans IS 'EANs of the user''s grid locations.';
COMMENT ON COLUMN admin.users.sessions IS 'How many onboarding sessions were ever started for the user.';


CREATE VIEW admin.registrations AS
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
COMMENT ON VIEW admin.registrations IS 'Every wish to register a user, whatever became of it, one row each.';
COMMENT ON COLUMN admin.registrations.registration_id IS 'Our id, the one in /registrations/{id}.';
COMMENT ON COLUMN admin.registrations.being_sent IS 'Whether a replica is sending it, or died doing so a moment ago.';

CREATE VIEW admin.registrations_open AS
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
       r.updated_at
  FROM public.registrations r
 WHERE r.status IN ('pending', 'uncertain');
COMMENT ON VIEW admin.registrations_open IS 'Registrations that have not ended: those that wait to be sent, and those whose outcome is unknown, where a person decides.';
COMMENT ON COLUMN admin.registrations_open.registration_id IS 'Our id, the one in /registrations/{id}.';
COMMENT ON COLUMN admin.registrations_open.status IS 'pending: sent by itself. uncertain: sent, and the answer was lost or unclear; a person decides.';
COMMENT ON COLUMN admin.registrations_open.age IS 'How long ago the tenant asked.';
COMMENT ON COLUMN admin.registrations_open.what_to_do IS 'What a person can do about it, in words.';


CREATE VIEW admin.session_starts AS
SELECT st.id AS start_id,
       u.tenant_reference,
       g.ean,
       st.grid_location_id,
       st.brand,
       st.status,
       st.attempts,
       st.orphans,
       st.session_id,
       st.last_error,
       st.status = 'sending' AND st.lease_until >= now() AS being_sent,
       st.created_at,
       st.updated_at
  FROM public.session_starts st
  LEFT JOIN public.grid_locations g ON g.id = st.grid_location_id
  LEFT JOIN public.users u ON u.id = g.user_id;
COMMENT ON VIEW admin.session_starts IS 'Every request to start a session, also those that failed and so led to no session, one row each.';
COMMENT ON COLUMN admin.session_starts.start_id IS 'Our id of the request.';
COMMENT ON COLUMN admin.session_starts.being_sent IS 'Whether a replica is sending it right now.';


CREATE VIEW admin.sessions AS
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
       END AS waiting_for,
       -- In the order in which one hides the other. A minute, five minutes, three failures: what passes by itself is not stuck.
       -- last_error is of the last read only while claimed_at was set back to checked_at (see session_polls.last_error).
       CASE
         WHEN s.closed_at IS NOT NULL THEN NULL
         WHEN p.session_id IS NULL THEN 'nobody watches it: it is not closed, and has no row in session_polls'
         WHEN b.lease_until < now() - interval '1 minute' THEN format(
           'its reader (%s) died, and no other worker has taken over since %s', b.worker, b.lease_until)
         WHEN p.not_found >= 2 THEN format('the last %s reads found it on no path (404 or 410)', p.not_found)
         WHEN p.failures >= 3 THEN format('the last %s reads failed: %s', p.failures, coalesce(p.last_error, 'for no recorded reason'))
         WHEN p.last_error IS NOT NULL AND (b.id IS NOT NULL OR p.claimed_at = p.checked_at) AND p.checked_at < now() - interval '5 minutes'
           THEN format('it could not be read since %s: %s', p.checked_at, p.last_error)
         WHEN b.id IS NULL AND p.due_at < now() - interval '5 minutes' THEN format(
           'its read is overdue by %s minutes: see admin.poll_lag', floor(extract(epoch FROM now() - p.due_at) / 60))
         WHEN s.state = 'unrecognised' THEN format(
           'the remote service answers what the interface does not describe: finished=%s, active=%s, expired=%s',
           s.finished::text, s.active::text, coalesce(s.expired::text, 'absent'))
         WHEN s.state IN ('awaiting_owner', 'awaiting_installation') AND s.expires_at < now() THEN format(
           'it was to expire at %s, and the remote service has not called it expired', s.expires_at)
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
COMMENT ON VIEW admin.sessions IS 'PV onboarding sessions, one row each, with the customer, the state, how they are watched, and why they are stuck where that can be said.';
COMMENT ON COLUMN admin.sessions.session_id IS 'sessionId given by the remote service; the same in both systems.';
COMMENT ON COLUMN admin.sessions.waiting_for IS 'What has to happen next, in words. Null once closed.';
COMMENT ON COLUMN admin.sessions.stuck_reason IS 'What is out of the ordinary and keeps it from going on, in words. Null when nothing is known to be. For all that are: WHERE closed_at IS NULL AND stuck_reason IS NOT NULL.';
COMMENT ON COLUMN admin.sessions.inverters IS 'How many inverters it has ever listed.';
COMMENT ON COLUMN admin.sessions.inverters_missing IS 'How many of them its last answer no longer listed.';
COMMENT ON COLUMN admin.sessions.online_at IS 'When we saw it online first. Null when never. Counted from recorded_at it is by one clock, ours.';
COMMENT ON COLUMN admin.sessions.checked_at IS 'When it was last read with success: what state and flags are as of.';
COMMENT ON COLUMN admin.sessions.next_check_at IS 'When it is to be read next; in the past it is overdue. Null once closed.';
COMMENT ON COLUMN admin.sessions.being_read IS 'Whether a worker has claimed it and not finished.';
COMMENT ON COLUMN admin.sessions.phase IS 'Why it is watched, which decides how often: awaiting_owner, awaiting_installation, settling (online, further inverters may follow), late (expired, may still come online), unrecognised. Null once closed.';
COMMENT ON COLUMN admin.sessions.failures IS 'Reads in a row that failed or found nothing; doubles the interval each time. 0 after a good read, null once closed. A read that was not sent does not count.';
COMMENT ON COLUMN admin.sessions.not_found IS 'Reads in a row that were answered 404 or 410 on every path; the fifth makes the session lost. Null once closed.';
COMMENT ON COLUMN admin.sessions.last_error IS 'Why the last read failed or was not sent. Null after a good read and once closed.';


-- An answer is kept as it came, and json takes what neither ->> nor jsonb do: an escaped NUL, half a surrogate pair. One such
-- answer would fail every query that meets it, so those escapes are shown as the replacement character. The flags are text,
-- since an answer may have anything there. startUrl is never kept; should it ever be, this is the last place to stop it.
-- OFFSET 0 keeps the planner from repeating the work for each column.
CREATE VIEW admin.session_observations AS
SELECT o.id AS observation_id,
       o.session_id,
       o.observed_at,
       o.source,
       o.http_status,
       seen.answer ->> 'finished' AS finished,
       seen.answer ->> 'active' AS active,
       seen.answer ->> 'expired' AS expired,
       CASE WHEN json_typeof(seen.answer -> 'inverters') = 'array' THEN json_array_length(seen.answer -> 'inverters') END AS inverters,
       seen.answer ->> 'updatedAt' AS updated_at,
       (SELECT t.to_state FROM public.session_transitions t WHERE t.observation_id = o.id ORDER BY t.id LIMIT 1) AS led_to,
       seen.answer
  FROM public.session_observations o
 CROSS JOIN LATERAL (
         SELECT regexp_replace(
                  regexp_replace(o.body::text, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'gi'),
                  '"startUrl"\s*:\s*"([^"\\]|\\.)*"', '"startUrl":null', 'gi')::json AS answer
         OFFSET 0) seen;
COMMENT ON VIEW admin.session_observations IS 'Answers of the remote service about a session that differed from the one before, one row each.';
COMMENT ON COLUMN admin.session_observations.observation_id IS 'Order of recording.';
COMMENT ON COLUMN admin.session_observations.finished IS 'Flag as answered, as text. Null when absent.';
COMMENT ON COLUMN admin.session_observations.active IS 'Flag as answered, as text. Null when absent.';
COMMENT ON COLUMN admin.session_observations.expired IS 'Flag as answered, as text. Null when absent, as in the start answer.';
COMMENT ON COLUMN admin.session_observations.inverters IS 'How many inverters were listed. Null when absent, as in the start answer.';
COMMENT ON COLUMN admin.session_observations.updated_at IS 'updatedAt as answered, as text, by the remote clock.';
COMMENT ON COLUMN admin.session_observations.led_to IS 'The state that the session entered by this answer. Null when it stayed in its state.';
COMMENT ON COLUMN admin.session_observations.answer IS 'The whole answer, without startUrl; escaped NULs and surrogates are shown as the replacement character. Null when it had no readable body.';


CREATE VIEW admin.session_transitions AS
SELECT t.id AS transition_id,
       t.session_id,
       u.tenant_reference,
       s.brand,
       t.at,
       t.from_state,
       t.to_state,
       t.basis,
       t.rule,
       t.observation_id,
       (SELECT n.at FROM public.session_transitions n WHERE n.session_id = t.session_id AND n.id > t.id ORDER BY n.id LIMIT 1) AS left_at
  FROM public.session_transitions t
  LEFT JOIN public.onboarding_sessions s ON s.id = t.session_id
  LEFT JOIN public.users u ON u.id = s.user_id;
COMMENT ON VIEW admin.session_transitions IS 'Every state that a session entered, by which rule, and when it left it, one row each.';
COMMENT ON COLUMN admin.session_transitions.transition_id IS 'Order of recording.';
COMMENT ON COLUMN admin.session_transitions.left_at IS 'When it left that state. Null while it is in it.';


-- The events of a session are found by its id as text, which only a join can turn into a filter on the index. A transition and
-- the closing carry the time at which the row was locked, a moment before the answer they follow from was recorded; greatest()
-- puts them after it.
CREATE VIEW admin.session_timeline AS
SELECT st.session_id,
       st.created_at AS at,
       1 AS step,
       st.attempts::bigint AS number,
       'start' AS kind,
       format('start requested; sent %s time(s), %s of them without a readable answer', st.attempts, st.orphans) AS summary,
       jsonb_build_object('start_id', st.id, 'status', st.status, 'attempts', st.attempts, 'orphans', st.orphans,
                          'brand', st.brand, 'last_error', st.last_error, 'ended_at', st.updated_at) AS details
  FROM public.session_starts st
 WHERE st.session_id IS NOT NULL
UNION ALL
SELECT o.session_id, o.observed_at, 2, o.observation_id, 'observation',
       format('%s answered %s: finished=%s active=%s expired=%s inverters=%s', o.source, o.http_status,
              coalesce(o.finished, 'absent'), coalesce(o.active, 'absent'), coalesce(o.expired, 'absent'),
              coalesce(o.inverters::text, 'absent')),
       jsonb_build_object('observation_id', o.observation_id, 'source', o.source, 'http_status', o.http_status, 'finished', o.finished,
                          'active', o.active, 'expired', o.expired, 'inverters', o.inverters, 'updated_at', o.updated_at)
  FROM admin.session_observations o
UNION ALL
SELECT t.session_id, greatest(t.at, o.observed_at), 3, t.id, 'transition',
       format('%s -> %s (%s, by the rule %s)', coalesce(t.from_state, 'new'), t.to_state, t.basis, t.rule),
       jsonb_build_object('from_state', t.from_state, 'to_state', t.to_state, 'basis', t.basis, 'rule', t.rule,
                          'observation_id', t.observation_id)
  FROM public.session_transitions t
  LEFT JOIN public.session_observations o ON o.id = t.observation_id
UNION ALL
SELECT s.id, s.superseded_at, 4, 0, 'superseded', 'a newer session of the same location and brand took its place', '{}'::jsonb
  FROM public.onboarding_sessions s
 WHERE s.superseded_at IS NOT NULL
UNION ALL
SELECT s.id,
       greatest(s.closed_at, (SELECT max(o.observed_at) FROM public.session_observations o WHERE o.session_id = s.id)),
       5, 0, 'closed', format('no longer watched: %s', s.close_reason), jsonb_build_object('close_reason', s.close_reason)
  FROM public.onboarding_sessions s
 WHERE s.closed_at IS NOT NULL
UNION ALL
SELECT s.id, e."time", 6, e.position, 'event', format('announced %s', e.name),
       jsonb_strip_nulls(jsonb_build_object('event_id', e.id, 'name', e.name, 'sequence', e.sequence,
                                            'inverter_id', e.data -> 'inverterId', 'reason', e.data -> 'reason'))
  FROM public.onboarding_sessions s
  JOIN public.domain_events e ON e.subject = s.id::text;
COMMENT ON VIEW admin.session_timeline IS 'Everything that happened to a session. Ask with WHERE session_id = … ORDER BY at, step, number; without a session id it reads every table whole.';
COMMENT ON COLUMN admin.session_timeline.session_id IS 'The session.';
COMMENT ON COLUMN admin.session_timeline.at IS 'When it happened here.';
COMMENT ON COLUMN admin.session_timeline.step IS 'Cause before effect within a millisecond: start, observation, transition, superseded, closed, event.';
COMMENT ON COLUMN admin.session_timeline.number IS 'Order within the same millisecond and step.';
COMMENT ON COLUMN admin.session_timeline.kind IS 'start, observation (an answer that differed from the one before), transition, superseded, closed or event. Reads that failed or brought nothing new leave no trace here.';
COMMENT ON COLUMN admin.session_timeline.summary IS 'What happened, in words.';
COMMENT ON COLUMN admin.session_timeline.details IS 'The same as a JSON object, for filters. For the whole answer see admin.session_observations.';


CREATE VIEW admin.inverters AS
SELECT i.id AS inverter_id,
       i.session_id,
       u.tenant_reference,
       g.ean,
       s.brand,
       i.first_seen_at,
       CASE WHEN i.missing_since IS NOT NULL THEN i.last_seen_at
            WHEN p.session_id IS NULL THEN s.last_checked_at
            WHEN b.id IS NULL THEN p.claimed_at
            ELSE p.checked_at END AS last_seen_at,
       i.missing_since
  FROM public.inverters i
  LEFT JOIN public.onboarding_sessions s ON s.id = i.session_id
  LEFT JOIN public.users u ON u.id = s.user_id
  LEFT JOIN public.grid_locations g ON g.id = s.grid_location_id
  LEFT JOIN public.session_polls p ON p.session_id = s.id
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id;
COMMENT ON VIEW admin.inverters IS 'Inverters and the sessions that listed them, one row for each pair.';
COMMENT ON COLUMN admin.inverters.inverter_id IS 'Inverter id given by the remote service.';
COMMENT ON COLUMN admin.inverters.last_seen_at IS 'When an answer listed it last.';


CREATE VIEW admin.poll_lag AS
SELECT coalesce(p.phase, 'all') AS phase,
       count(*) AS watched,
       count(*) FILTER (WHERE p.due_at <= now() AND b.id IS NULL) AS due,
       round(max(extract(epoch FROM now() - p.due_at)) FILTER (WHERE p.due_at <= now() AND b.id IS NULL), 1) AS overdue_seconds_max,
       round((percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM now() - p.due_at)::float8)
         FILTER (WHERE p.due_at <= now() AND b.id IS NULL))::numeric, 1) AS overdue_seconds_p95,
       round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM now() - p.due_at)::float8)
         FILTER (WHERE p.due_at <= now() AND b.id IS NULL))::numeric, 1) AS overdue_seconds_p50,
       count(*) FILTER (WHERE p.failures > 0) AS failing,
       count(b.id) AS being_read,
       count(DISTINCT b.id) FILTER (WHERE b.lease_until >= now()) AS live_batches,
       count(DISTINCT b.id) FILTER (WHERE b.lease_until < now()) AS expired_leases
  FROM public.session_polls p
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id
 GROUP BY GROUPING SETS ((p.phase), ());
COMMENT ON VIEW admin.poll_lag IS 'How far behind the reading of sessions is, one row for each phase and one for all.';
COMMENT ON COLUMN admin.poll_lag.phase IS 'Phase of the sessions (see admin.sessions.phase), or all.';
COMMENT ON COLUMN admin.poll_lag.watched IS 'Sessions that are watched.';
COMMENT ON COLUMN admin.poll_lag.due IS 'Sessions whose time has come and that nobody reads yet.';
COMMENT ON COLUMN admin.poll_lag.overdue_seconds_max IS 'How long the longest waiting of the due sessions has been due, in seconds. Null when none is due. A few seconds are normal.';
COMMENT ON COLUMN admin.poll_lag.overdue_seconds_p95 IS '95th percentile of the same over the due sessions.';
COMMENT ON COLUMN admin.poll_lag.overdue_seconds_p50 IS 'Median of the same over the due sessions.';
COMMENT ON COLUMN admin.poll_lag.failing IS 'Sessions whose last read failed or found nothing.';
COMMENT ON COLUMN admin.poll_lag.being_read IS 'Sessions that a worker has claimed and not finished.';
COMMENT ON COLUMN admin.poll_lag.live_batches IS 'Claims in progress that hold such sessions.';
COMMENT ON COLUMN admin.poll_lag.expired_leases IS 'Claims whose worker went silent and that nobody has taken over. More than a moment above 0: no worker is running.';

CREATE VIEW admin.poll_batches AS
SELECT b.id AS batch_id, b.worker, b.size, b.claimed_at, b.lease_until, b.lease_until < now() AS lease_expired
  FROM public.poll_batches b;
COMMENT ON VIEW admin.poll_batches IS 'Claims of due sessions in progress, one row each: which worker reads how many.';
COMMENT ON COLUMN admin.poll_batches.batch_id IS 'Number of the claim.';
COMMENT ON COLUMN admin.poll_batches.lease_expired IS 'Whether the worker went silent; another takes its sessions over within a few seconds.';


CREATE VIEW admin.events AS
SELECT e.position,
       e.sequence,
       e.id AS event_id,
       e.name,
       e.subject,
       e."time" AS at,
       e.data - 'metadata' AS data
  FROM public.domain_events e;
COMMENT ON VIEW admin.events IS 'Every event, one row each.';
COMMENT ON COLUMN admin.events.position IS 'Order of insertion.';
COMMENT ON COLUMN admin.events.sequence IS 'Order of reading, given after the commit. Null for the moment between; one that stays null is a fault.';
COMMENT ON COLUMN admin.events.event_id IS 'The id of the CloudEvent.';
COMMENT ON COLUMN admin.events.at IS 'When the fact was recorded.';
COMMENT ON COLUMN admin.events.data IS 'The data of the CloudEvent, without the tenant''s metadata.';

CREATE VIEW admin.event_deliveries AS
SELECT d.handler,
       d.position,
       e.id AS event_id,
       e.name,
       d.subject,
       d.attempts,
       d.last_error,
       d.created_at AS waiting_since
  FROM public.handler_deliveries d
  LEFT JOIN public.domain_events e ON e.position = d.position;
COMMENT ON VIEW admin.event_deliveries IS 'Events that a handler in the service''s own process has not finished yet, one row each.';
COMMENT ON COLUMN admin.event_deliveries.event_id IS 'The id of the CloudEvent.';
COMMENT ON COLUMN admin.event_deliveries.name IS 'Name of the event, such as session.online.';
COMMENT ON COLUMN admin.event_deliveries.waiting_since IS 'When the event was recorded for this handler.';

CREATE VIEW admin.event_handlers AS
SELECT h.name AS handler, h.events, h.seen_at, backlog.waiting, backlog.failing, backlog.oldest_waiting_since
  FROM public.event_handlers h
 CROSS JOIN LATERAL (
         SELECT count(*) AS waiting, count(*) FILTER (WHERE d.attempts > 0) AS failing, min(d.created_at) AS oldest_waiting_since
           FROM public.handler_deliveries d WHERE d.handler = h.name) backlog;
COMMENT ON VIEW admin.event_handlers IS 'Handlers in the service''s own process and how far behind they are, one row each.';
COMMENT ON COLUMN admin.event_handlers.handler IS 'Class.method of the handler, or the name it was given.';
COMMENT ON COLUMN admin.event_handlers.waiting IS 'Events that it has not finished.';
COMMENT ON COLUMN admin.event_handlers.failing IS 'How many of them it has failed on at least once; each holds back the later ones of its subject.';
COMMENT ON COLUMN admin.event_handlers.oldest_waiting_since IS 'When the longest waiting of them was recorded. Null when none waits.';


CREATE VIEW admin.api_keys AS
SELECT k.id AS key_id, k.name, k.scopes, k.created_at, k.created_by, k.last_used_at, k.revoked_at
  FROM public.api_keys k;
COMMENT ON VIEW admin.api_keys IS 'Keys of the tenant''s own apps, without the keys. The administrator key of ADMIN_API_KEY is not here.';
COMMENT ON COLUMN admin.api_keys.key_id IS 'Id of the key, not the key.';

CREATE VIEW admin.remote_tokens AS
SELECT t.name,
       t.generation,
       t.token_ciphertext IS NOT NULL AS present,
       t.token_type,
       t.expires_in_raw,
       t.obtained_at,
       t.renew_at,
       t.expires_at,
       t.rejected_at,
       t.failures,
       t.last_error,
       t.next_attempt_at,
       coalesce(t.lease_until >= now(), false) AS being_renewed
  FROM public.remote_tokens t;
COMMENT ON VIEW admin.remote_tokens IS 'The access token for the remote service: its age and troubles, never its value.';
COMMENT ON COLUMN admin.remote_tokens.present IS 'Whether there is a token.';
COMMENT ON COLUMN admin.remote_tokens.being_renewed IS 'Whether a replica is asking for a new one right now.';

CREATE VIEW admin.audit_log AS
SELECT a.id AS entry_id, a.at, a.actor, k.name AS key_name, a.action, a.target, a.details, a.request_id
  FROM public.audit_log a
  LEFT JOIN public.api_keys k ON a.actor = 'key:' || k.id;
COMMENT ON VIEW admin.audit_log IS 'Who did what: keys made and revoked, decisions on registrations, and the like, one row each.';
COMMENT ON COLUMN admin.audit_log.entry_id IS 'Order of recording.';
COMMENT ON COLUMN admin.audit_log.key_name IS 'Name of the key that acted. Null for the administrator key and for what acts without a key.';


-- What a view shows of a table under the same name means the same there: said once, in the table. The first table that has it counts.
DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN
    SELECT DISTINCT ON (origin.view, shows.attname)
           origin.view, shows.attname AS name, col_description(held.attrelid, held.attnum) AS meaning
      FROM (VALUES
             ('users', ARRAY['users']),
             ('registrations', ARRAY['registrations']),
             ('registrations_open', ARRAY['registrations']),
             ('session_starts', ARRAY['session_starts', 'users', 'grid_locations']),
             ('sessions', ARRAY['onboarding_sessions', 'users', 'grid_locations']),
             ('session_observations', ARRAY['session_observations']),
             ('session_transitions', ARRAY['session_transitions', 'onboarding_sessions', 'users']),
             ('inverters', ARRAY['inverters', 'onboarding_sessions', 'users', 'grid_locations']),
             ('poll_batches', ARRAY['poll_batches']),
             ('events', ARRAY['domain_events']),
             ('event_deliveries', ARRAY['handler_deliveries']),
             ('event_handlers', ARRAY['event_handlers']),
             ('api_keys', ARRAY['api_keys']),
             ('remote_tokens', ARRAY['remote_tokens']),
             ('audit_log', ARRAY['audit_log'])
           ) AS origin (view, tables)
     CROSS JOIN LATERAL unnest(origin.tables) WITH ORDINALITY AS source (name, place)
      JOIN pg_attribute shows ON shows.attrelid = format('admin.%I', origin.view)::regclass
      JOIN pg_attribute held ON held.attrelid = format('public.%I', source.name)::regclass AND held.attname = shows.attname
     WHERE held.attnum > 0 AND col_description(shows.attrelid, shows.attnum) IS NULL
     ORDER BY origin.view, shows.attname, source.place
  LOOP
    EXECUTE format('COMMENT ON COLUMN admin.%I.%I IS %L', shown.view, shown.name, shown.meaning);
  END LOOP;
END $$;


-- Roles belong to the server, not to the database: several databases may be migrated at once, and the role may be there already.
-- On a managed server the migrating user may not be allowed to make one; that is no reason not to start.
CREATE FUNCTION admin.grant_reader(reader name DEFAULT 'pv_onboarding_reader') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  schema_owner name := (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'admin');
  database_owner oid := (SELECT datdba FROM pg_database WHERE datname = current_database());
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = reader) THEN
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', reader);
      EXECUTE format('COMMENT ON ROLE %I IS %L', reader,
                     'Reads the views of the schema admin of PV Onboarding and nothing else. Made a member of by admin.add_reader.');
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN
        NULL; -- Another database of this server was a moment faster; unique_violation is what the loser of the race gets.
      WHEN insufficient_privilege THEN
        RAISE WARNING 'the role % does not exist and % may not create it: administrators cannot read the views of the schema admin yet',
          reader, current_user
          USING HINT = format('Run as a role that may: CREATE ROLE %I NOLOGIN; and then as %I, in the database %I: SELECT admin.grant_reader(%L);',
                              reader, schema_owner, current_database(), reader);
        RETURN;
    END;
  END IF;

  EXECUTE format('GRANT USAGE ON SCHEMA admin TO %I', reader);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA admin TO %I', reader);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA admin GRANT SELECT ON TABLES TO %I', schema_owner, reader);

  -- What PUBLIC has by default would let a reader write: temporary tables, and before PostgreSQL 15 tables in public.
  -- CONNECT stays as it is, for whoever else it may serve.
  IF pg_has_role(database_owner, 'USAGE') THEN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), reader);
    IF has_schema_privilege('public', 'public', 'CREATE') THEN
      REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    END IF;
  END IF;
END $$;
COMMENT ON FUNCTION admin.grant_reader(name) IS
  'Creates the role where it is missing, and grants it the views of the schema admin. Run by the migrations; again by hand after a restore on another server, or for a role of another name.';

-- Settings of a role hold for those who log in as that role, not for its members: so they are given to each login. A transaction
-- that somebody left open overnight keeps the vacuum from session_polls and slows every claim, hence the idle timeout.
CREATE FUNCTION admin.add_reader(login name, reader name DEFAULT 'pv_onboarding_reader') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('GRANT %I TO %I', reader, login);
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET default_transaction_read_only = on', login, current_database());
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET statement_timeout = ''30s''', login, current_database());
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET idle_in_transaction_session_timeout = ''60s''', login, current_database());
END $$;
COMMENT ON FUNCTION admin.add_reader(name, name) IS
  'Makes an existing login a reader: read-only transactions, statements of at most 30 s, open transactions of at most 60 s idle. Needs a role that may grant the reader role.';

REVOKE ALL ON FUNCTION admin.grant_reader(name), admin.add_reader(name, name) FROM PUBLIC;

SELECT admin.grant_reader();
