CREATE OR REPLACE VIEW admin.event_handlers AS
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
