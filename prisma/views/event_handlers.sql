CREATE OR REPLACE VIEW admin.event_handlers AS
SELECT h.handler, h.types AS events, h.seen_at, backlog.waiting, backlog.failing, backlog.oldest_waiting_since
  FROM public.webhook_endpoints h
 CROSS JOIN LATERAL (
       SELECT count(*) AS waiting, count(*) FILTER (WHERE owed.attempts > 0) AS failing, min(owed.since) AS oldest_waiting_since
         FROM (SELECT d.attempts, d.created_at AS since
                 FROM public.webhook_deliveries d WHERE d.endpoint_id = h.id AND d.status = 'pending'
                UNION ALL
               SELECT 0, e."time" FROM public.domain_events e WHERE e.sequence > h.read_to AND e.name = ANY (h.types)) owed) backlog
 WHERE h.handler IS NOT NULL;
COMMENT ON VIEW admin.event_handlers IS 'Handlers in the service''s own process and how far behind they are, one row each.';
COMMENT ON COLUMN admin.event_handlers.events IS 'Names of the events it asked for.';
COMMENT ON COLUMN admin.event_handlers.waiting IS 'Events that it has not finished.';
COMMENT ON COLUMN admin.event_handlers.failing IS 'How many of them it has failed on at least once; each holds back the later ones of its subject.';
COMMENT ON COLUMN admin.event_handlers.oldest_waiting_since IS 'When the longest waiting of them was recorded. Null when none waits.';
