CREATE OR REPLACE VIEW admin.webhook_deliveries AS
SELECT d.id AS delivery_id,
       d.endpoint_id,
       w.description AS endpoint,
       d.position,
       e.sequence,
       e.id AS event_id,
       e.name,
       d.subject,
       d.status,
       d.attempts,
       (SELECT s.due_at FROM public.webhook_subjects s
         WHERE d.status = 'pending' AND s.endpoint_id = d.endpoint_id AND s.subject = d.subject
           AND NOT EXISTS (SELECT FROM public.webhook_deliveries earlier
                            WHERE earlier.endpoint_id = d.endpoint_id AND earlier.subject = d.subject AND earlier.status = 'pending'
                              AND earlier.position < d.position)) AS next_attempt_at,
       d.last_attempt_at,
       d.last_status,
       d.last_error,
       d.created_at
  FROM public.webhook_deliveries d
  JOIN public.webhook_endpoints w ON w.id = d.endpoint_id AND w.handler IS NULL
  LEFT JOIN public.domain_events e ON e.position = d.position;
COMMENT ON VIEW admin.webhook_deliveries IS 'What was sent to webhook endpoints and what is pending, one row for each event and endpoint. Without the responses: GET /webhook-deliveries/{id} returns them to a key that may see them.';
COMMENT ON COLUMN admin.webhook_deliveries.delivery_id IS 'Our id, the one in /webhook-deliveries/{id}.';
COMMENT ON COLUMN admin.webhook_deliveries.endpoint IS 'Description of the endpoint.';
COMMENT ON COLUMN admin.webhook_deliveries.event_id IS 'The id of the CloudEvent, sent as webhook-id.';
COMMENT ON COLUMN admin.webhook_deliveries.next_attempt_at IS 'Time of the next attempt. Null unless pending, and if it waits behind an earlier event of its subject.';
