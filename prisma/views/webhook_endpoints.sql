-- silent_because is also correct if a restore left a gap in the sequence, or old deliveries were deleted.
CREATE OR REPLACE VIEW admin.webhook_endpoints AS
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
       -- The most important reason first: a stall (admin.stalled) comes before an ordinary wait. Five minutes: what passes by itself is no reason.
       CASE
         WHEN e.disabled_reason = 'requested' THEN format('it was disabled at %s by a person or app: see admin.audit_log', e.disabled_at)
         WHEN x.cause IS NOT NULL THEN format('%s Since %s.', c.meaning, x.since)
         WHEN e.quiet_until > now() THEN format('it asked for a wait until %s (Retry-After)', e.quiet_until)
         WHEN EXISTS (SELECT FROM public.webhook_subjects s WHERE s.endpoint_id = e.id AND s.due_at < now() - interval '5 minutes')
           OR (SELECT d."time" FROM public.domain_events d WHERE d.sequence > e.read_to ORDER BY d.sequence LIMIT 1) < now() - interval '5 minutes'
           OR EXISTS (SELECT FROM public.domain_events d WHERE d.sequence IS NULL AND d."time" < now() - interval '5 minutes')
           THEN 'a worker should have sent it what waits by now: is one running (ROLE worker or all)?'
         -- By the index of its deliveries; for NOT EXISTS the planner may read those of all.
         WHEN e.last_delivered_at IS NULL
           AND (SELECT d.position FROM public.webhook_deliveries d WHERE d.endpoint_id = e.id ORDER BY d.position LIMIT 1) IS NULL
           THEN 'nothing that it subscribes to has happened since it was created'
       END AS silent_because,
       e.created_at,
       e.created_by,
       e.updated_at
  FROM public.webhook_endpoints e
  LEFT JOIN public.stalls x ON x.kind = 'endpoint' AND x.subject = e.id
  LEFT JOIN public.stall_causes c ON c.kind = x.kind AND c.cause = x.cause
 WHERE e.handler IS NULL;
COMMENT ON VIEW admin.webhook_endpoints IS 'Webhook endpoints and their health, one row each. No secret, no header and no path of an address.';
COMMENT ON COLUMN admin.webhook_endpoints.endpoint_id IS 'Our id, the one in /webhook-endpoints/{id}.';
COMMENT ON COLUMN admin.webhook_endpoints.origin IS 'Its address, without path and query.';
COMMENT ON COLUMN admin.webhook_endpoints.has_headers IS 'Whether its own headers are sent with every webhook.';
COMMENT ON COLUMN admin.webhook_endpoints.unread IS 'Events after its position in the feed, of all types. Grows while it is disabled.';
COMMENT ON COLUMN admin.webhook_endpoints.pending IS 'Deliveries that are to be sent, or sent again.';
COMMENT ON COLUMN admin.webhook_endpoints.oldest_pending_since IS 'When the oldest of them was inserted. Null if there is none.';
COMMENT ON COLUMN admin.webhook_endpoints.failed IS 'Deliveries that were given up or skipped.';
COMMENT ON COLUMN admin.webhook_endpoints.quiet_until IS 'Until when nothing is sent, because it asked for it (Retry-After) or has been failing. Null if not, or if the time is over.';
COMMENT ON COLUMN admin.webhook_endpoints.last_error IS 'Why the last attempt failed, of those whose event has not been delivered. Null if all have.';
COMMENT ON COLUMN admin.webhook_endpoints.silent_because IS 'Why it gets nothing, in words. Null if no reason is known.';
