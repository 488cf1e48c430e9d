CREATE OR REPLACE VIEW admin.event_handlers AS
SELECT h.handler,
       h.types AS events,
       h.seen_at,
       count(d.position) AS waiting,
       count(*) FILTER (WHERE d.attempts > 0) AS failing,
       min(d.waiting_since) AS oldest_waiting_since
  FROM public.webhook_endpoints h
  LEFT JOIN admin.event_deliveries d ON d.handler = h.handler
 WHERE h.handler IS NOT NULL
 GROUP BY h.id;
COMMENT ON VIEW admin.event_handlers IS 'Handlers in the service''s own process, one row each, with how far they are behind.';
COMMENT ON COLUMN admin.event_handlers.events IS 'Names of the events that it handles.';
COMMENT ON COLUMN admin.event_handlers.waiting IS 'Events that it has not completed.';
COMMENT ON COLUMN admin.event_handlers.failing IS 'How many of them it has failed on at least once. Each holds back the later ones of its subject.';
COMMENT ON COLUMN admin.event_handlers.oldest_waiting_since IS 'When the oldest of them was recorded. Null if none waits.';
