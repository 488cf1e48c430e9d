CREATE OR REPLACE VIEW admin.event_deliveries AS
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
