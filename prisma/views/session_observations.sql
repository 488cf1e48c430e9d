-- Shows escaped NULs and surrogates as the replacement character: json accepts them, but ->> and jsonb fail on them, and with them
-- each query that reads such a response. The flags are text, because a response may have any value there. startUrl is never stored;
-- it is removed again to be sure. OFFSET 0 prevents the planner from repeating the work for each column.
CREATE OR REPLACE VIEW admin.session_observations AS
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
COMMENT ON VIEW admin.session_observations IS 'Responses of the remote service about a session that differed from the one before, one row each.';
COMMENT ON COLUMN admin.session_observations.observation_id IS 'Order of recording.';
COMMENT ON COLUMN admin.session_observations.finished IS 'Flag as received, as text. Null if absent.';
COMMENT ON COLUMN admin.session_observations.active IS 'Flag as received, as text. Null if absent.';
COMMENT ON COLUMN admin.session_observations.expired IS 'Flag as received, as text. Null if absent, as in the response to a start.';
COMMENT ON COLUMN admin.session_observations.inverters IS 'How many inverters were listed. Null if absent, as in the response to a start.';
COMMENT ON COLUMN admin.session_observations.updated_at IS 'updatedAt as received, as text, by the remote clock.';
COMMENT ON COLUMN admin.session_observations.led_to IS 'The state that the session entered by this response. Null if its state stayed the same.';
COMMENT ON COLUMN admin.session_observations.answer IS 'The complete response, without startUrl. Escaped NULs and surrogates are shown as the replacement character. Null if it had no readable body.';
