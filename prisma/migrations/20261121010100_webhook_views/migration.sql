-- What administrators read of webhooks, by the rules of the other views of the schema `admin`. An address may hold a secret of the
-- receiver in its path or query, so only its origin is shown; an answer of a receiver may hold anything, so none is.

-- The list of deliveries that failed, among all that ever were.
CREATE INDEX "webhook_deliveries_failed" ON "webhook_deliveries" ("endpoint_id", "created_at") WHERE "status" = 'failed';

CREATE VIEW admin.webhook_endpoints AS
SELECT e.id AS endpoint_id,
       e.description,
       substring(e.url FROM '^[^:]+://[^/?#]+') AS origin,
       e.types,
       e.headers_ciphertext IS NOT NULL AS has_headers,
       e.previous_secret_until,
       e.read_to,
       (SELECT coalesce(max(d.sequence), 0) FROM public.domain_events d) - e.read_to AS unread,
       (SELECT count(*) FROM public.webhook_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'pending') AS pending,
       (SELECT min(d.created_at) FROM public.webhook_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'pending') AS oldest_pending_since,
       (SELECT count(*) FROM public.webhook_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'failed') AS failed,
       e.failures,
       e.failing_since,
       CASE WHEN e.quiet_until > now() THEN e.quiet_until END AS quiet_until,
       -- Each part by its own partial index.
       (SELECT latest.last_error
          FROM (SELECT d.last_error, d.last_attempt_at FROM public.webhook_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'pending'
                UNION ALL
                SELECT d.last_error, d.last_attempt_at FROM public.webhook_deliveries d WHERE d.endpoint_id = e.id AND d.status = 'failed'
               ) AS latest
         WHERE latest.last_error IS NOT NULL
         ORDER BY latest.last_attempt_at DESC NULLS LAST LIMIT 1) AS last_error,
       e.last_delivered_at,
       e.disabled_at,
       e.disabled_reason,
       -- In the order in which one hides the other. Five minutes: what passes by itself is not stuck.
       CASE
         WHEN e.disabled_reason = 'requested' THEN format('it was disabled at %s by a person or app: see admin.audit_log', e.disabled_at)
         WHEN e.disabled_reason = 'gone' THEN format('it was disabled at %s, since it answered 410: enable it once it is back', e.disabled_at)
         WHEN e.disabled_reason = 'failing' THEN format(
           'it was disabled at %s, after nothing but failures for days: enable it once it is repaired', e.disabled_at)
         WHEN e.failures > 0 THEN format('the last %s attempts failed, the first of them at %s: see last_error', e.failures, e.failing_since)
         WHEN e.quiet_until > now() THEN format('it asked to be left alone until %s (Retry-After)', e.quiet_until)
         WHEN EXISTS (SELECT FROM public.webhook_deliveries d
                       WHERE d.endpoint_id = e.id AND d.status = 'pending' AND d.next_attempt_at < now() - interval '5 minutes')
           OR EXISTS (SELECT FROM public.domain_events d WHERE d.sequence = e.read_to + 1 AND d."time" < now() - interval '5 minutes')
           OR EXISTS (SELECT FROM public.domain_events d WHERE d.sequence IS NULL AND d."time" < now() - interval '5 minutes')
           THEN 'a worker should have sent it what waits by now: is one running (ROLE worker or all)?'
         -- By the index of its deliveries; for NOT EXISTS the planner may read those of all.
         WHEN (SELECT d.position FROM public.webhook_deliveries d WHERE d.endpoint_id = e.id ORDER BY d.position LIMIT 1) IS NULL
           THEN 'nothing that it asks for has happened since it was made'
       END AS silent_because,
       e.created_at,
       e.created_by,
       e.updated_at
  FROM public.webhook_endpoints e;
COMMENT ON VIEW admin.webhook_endpoints IS 'Where events are sent as webhooks, and how it goes, one row for each endpoint. No secret, no header and no path of an address.';
COMMENT ON COLUMN admin.webhook_endpoints.endpoint_id IS 'Our id, the one in /webhook-endpoints/{id}.';
COMMENT ON COLUMN admin.webhook_endpoints.origin IS 'Where to, without path and query.';
COMMENT ON COLUMN admin.webhook_endpoints.has_headers IS 'Whether headers of its own are sent with every webhook.';
COMMENT ON COLUMN admin.webhook_endpoints.unread IS 'Events behind its place in the feed, of all types. Grows while it is disabled.';
COMMENT ON COLUMN admin.webhook_endpoints.pending IS 'Deliveries that are to be sent, or sent again.';
COMMENT ON COLUMN admin.webhook_endpoints.oldest_pending_since IS 'When the longest waiting of them was written. Null when none waits.';
COMMENT ON COLUMN admin.webhook_endpoints.failed IS 'Deliveries that were given up, or skipped.';
COMMENT ON COLUMN admin.webhook_endpoints.quiet_until IS 'Until when nothing is sent: it asked so by Retry-After, or it has been failing. Null when it is not, or the time is over.';
COMMENT ON COLUMN admin.webhook_endpoints.last_error IS 'Why the last attempt failed of those that have not arrived. Null when all have.';
COMMENT ON COLUMN admin.webhook_endpoints.silent_because IS 'Why it gets nothing, in words. Null when nothing is known to keep it from getting what it asks for.';


CREATE VIEW admin.webhook_deliveries AS
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
       d.next_attempt_at,
       d.last_attempt_at,
       d.last_status,
       d.last_error,
       d.created_at
  FROM public.webhook_deliveries d
  LEFT JOIN public.webhook_endpoints w ON w.id = d.endpoint_id
  LEFT JOIN public.domain_events e ON e.position = d.position;
COMMENT ON VIEW admin.webhook_deliveries IS 'What was sent to webhook endpoints and what is to be, one row for each event and endpoint. Without what was answered: GET /webhook-deliveries/{id} shows that to a key that may see it.';
COMMENT ON COLUMN admin.webhook_deliveries.delivery_id IS 'Our id, the one in /webhook-deliveries/{id}.';
COMMENT ON COLUMN admin.webhook_deliveries.endpoint IS 'Description of the endpoint.';
COMMENT ON COLUMN admin.webhook_deliveries.event_id IS 'The id of the CloudEvent, sent as webhook-id.';
COMMENT ON COLUMN admin.webhook_deliveries.name IS 'Name of the event, such as session.online.';

-- A column of a view means what the column of the table means that it shows. The first table that has it counts.
DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN
    SELECT DISTINCT ON (origin.view, shows.attname)
           origin.view, shows.attname AS name, col_description(held.attrelid, held.attnum) AS meaning
      FROM (VALUES
             ('webhook_endpoints', ARRAY['webhook_endpoints']),
             ('webhook_deliveries', ARRAY['webhook_deliveries', 'domain_events'])
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

-- Default privileges give both views to the reader, where the role was there when they were granted. Granted by name too, for the
-- server on which it was made by hand since.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pv_onboarding_reader')
     AND has_schema_privilege('pv_onboarding_reader', 'admin', 'USAGE') THEN
    GRANT SELECT ON admin.webhook_endpoints, admin.webhook_deliveries TO pv_onboarding_reader;
  END IF;
END $$;
