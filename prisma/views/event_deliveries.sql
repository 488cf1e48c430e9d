-- An event that a handler has not read yet has no delivery, and perhaps no sequence.
CREATE OR REPLACE VIEW admin.event_deliveries AS
SELECT h.handler,
       owed.position,
       e.id AS event_id,
       e.name,
       e.subject,
       owed.attempts,
       owed.last_error,
       owed.waiting_since
  FROM public.webhook_endpoints h
 CROSS JOIN LATERAL (
       SELECT d.position, d.attempts, d.last_error, d.created_at AS waiting_since
         FROM public.webhook_deliveries d WHERE d.endpoint_id = h.id AND d.status = 'pending'
        UNION ALL
       SELECT unread.position, 0, NULL, unread."time"
         FROM public.domain_events unread
         WHERE (unread.sequence > h.read_to OR unread.sequence IS NULL) AND unread.name = ANY (h.types)) owed
  JOIN public.domain_events e ON e.position = owed.position
 WHERE h.handler IS NOT NULL;
COMMENT ON VIEW admin.event_deliveries IS 'Events that a handler in the service''s own process has not completed, one row each.';
COMMENT ON COLUMN admin.event_deliveries.event_id IS 'The id of the CloudEvent.';
COMMENT ON COLUMN admin.event_deliveries.waiting_since IS 'When the handler''s process read the event; before that, when it was appended.';
