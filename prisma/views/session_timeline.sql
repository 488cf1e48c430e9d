-- Joins the events by the id of the session as text, because only then PostgreSQL uses the index of subjects. A transition and the
-- closing have the time at which the row was locked, a moment before their response was recorded; greatest() orders them after it.
CREATE OR REPLACE VIEW admin.session_timeline AS
SELECT st.session_id,
       st.created_at AS at,
       1 AS step,
       st.attempts::bigint AS number,
       'start' AS kind,
       'start requested; sent ' || CASE st.attempts WHEN 1 THEN 'once' ELSE st.attempts || ' times' END
         || CASE WHEN st.orphans > 0 THEN format(', %s of them without a readable response', st.orphans) ELSE '' END AS summary,
       jsonb_build_object('start_id', st.id, 'status', st.status, 'attempts', st.attempts, 'orphans', st.orphans,
                          'brand', st.brand, 'last_error', st.last_error, 'ended_at', st.updated_at) AS details
  FROM public.session_starts st
 WHERE st.session_id IS NOT NULL
UNION ALL
SELECT o.session_id, o.observed_at, 2, o.observation_id, 'observation',
       format('%s returned %s: finished=%s active=%s expired=%s inverters=%s', o.source, o.http_status,
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
       greatest(s.closed_at, (SELECT max(o.observed_at) FROM public.session_observations o WHERE o.session_id = s.id AND o.observed_at < s.closed_at + interval '1 minute')),
       5, 0, 'closed', format('no longer watched: %s', s.close_reason), jsonb_build_object('close_reason', s.close_reason)
  FROM public.onboarding_sessions s
 WHERE s.closed_at IS NOT NULL
UNION ALL
SELECT s.id, e."time", 6, e.position, 'event', format('announced %s', e.name),
       jsonb_strip_nulls(jsonb_build_object('event_id', e.id, 'name', e.name, 'sequence', e.sequence,
                                            'inverter_id', e.data -> 'inverterId', 'reason', e.data -> 'reason'))
  FROM public.onboarding_sessions s
  JOIN public.domain_events e ON e.subject = s.id::text;
COMMENT ON VIEW admin.session_timeline IS 'Everything that happened to a session. Query it with WHERE session_id = … ORDER BY at, step, number; without a session id it reads all tables.';
COMMENT ON COLUMN admin.session_timeline.at IS 'When it was recorded.';
COMMENT ON COLUMN admin.session_timeline.step IS 'Order within a millisecond, cause before effect: start, observation, transition, superseded, closed, event.';
COMMENT ON COLUMN admin.session_timeline.number IS 'Order within the same millisecond and step.';
COMMENT ON COLUMN admin.session_timeline.kind IS 'start, observation (a response that differed from the one before), transition, superseded, closed or event. Reads that failed or had no news are not listed.';
COMMENT ON COLUMN admin.session_timeline.summary IS 'What happened, in words.';
COMMENT ON COLUMN admin.session_timeline.details IS 'The same as a JSON object, for filters. admin.session_observations has the complete responses.';
