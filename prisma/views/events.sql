CREATE OR REPLACE VIEW admin.events AS
SELECT e.position,
       e.sequence,
       e.id AS event_id,
       e.name,
       e.subject,
       e."time" AS at,
       e.data - 'metadata' AS data
  FROM public.domain_events e;
COMMENT ON VIEW admin.events IS 'Every event, one row each.';
COMMENT ON COLUMN admin.events.event_id IS 'The id of the CloudEvent.';
COMMENT ON COLUMN admin.events.at IS 'When the fact was recorded.';
COMMENT ON COLUMN admin.events.data IS 'The data of the CloudEvent, without the tenant''s metadata.';
