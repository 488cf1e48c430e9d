-- The queue of a webhook endpoint is a row per subject, not per delivery: one failing event with 100,000 behind it is one row that is
-- due at its retry. `webhook_deliveries.next_attempt_at` is left as it was, for replicas of the release before: they go on by it until
-- they are replaced, and after a step back. What they insert meanwhile is queued by the upkeep of the new release.

-- CreateTable
CREATE TABLE "webhook_subjects" (
    "endpoint_id" UUID NOT NULL,
    "subject" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "webhook_subjects_pkey" PRIMARY KEY ("endpoint_id","subject")
);

-- CreateIndex
CREATE INDEX "webhook_subjects_endpoint_id_due_at_idx" ON "webhook_subjects"("endpoint_id", "due_at");

-- AddForeignKey
ALTER TABLE "webhook_subjects" ADD CONSTRAINT "webhook_subjects_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoints"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Rows live for a moment, so dead ones are many: vacuum early, and leave room to update in place.
ALTER TABLE "webhook_subjects" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

-- Everything pending, also of disabled endpoints. What waits behind another event waits for the first.
INSERT INTO "webhook_subjects" ("endpoint_id", "subject", "due_at")
SELECT DISTINCT ON ("endpoint_id", "subject") "endpoint_id", "subject", "next_attempt_at"
FROM "webhook_deliveries" WHERE "status" = 'pending'
ORDER BY "endpoint_id", "subject", "position";

COMMENT ON TABLE webhook_subjects IS
  'The queue of webhooks: one row per endpoint and subject with pending deliveries. Only the first of them can be sent; the others wait behind it.';
COMMENT ON COLUMN webhook_subjects.endpoint_id IS 'The endpoint to send to.';
COMMENT ON COLUMN webhook_subjects.subject IS 'The subject of the events, which are sent one at a time and in order.';
COMMENT ON COLUMN webhook_subjects.due_at IS 'When the first pending delivery can be sent: at once, or after the wait of its retry. Nothing is sent before the quiet period of the endpoint ends.';
COMMENT ON COLUMN webhook_deliveries.next_attempt_at IS
  'Not before, by its own retry schedule. Null unless pending. Whether and when it is next shows webhook_subjects.due_at.';

-- The same columns. An event that waits behind another of its subject has no time of its own.
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
  LEFT JOIN public.webhook_endpoints w ON w.id = d.endpoint_id
  LEFT JOIN public.domain_events e ON e.position = d.position;
COMMENT ON COLUMN admin.webhook_deliveries.next_attempt_at IS
  'Time of the next attempt. Null if it waits behind an earlier event of its subject, and unless pending.';

-- The same columns; silent_because reads the queue.
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
       -- In the order in which one hides the other. Five minutes: what passes by itself is not stuck.
       CASE
         WHEN e.disabled_reason = 'requested' THEN format('it was disabled at %s by a person or app: see admin.audit_log', e.disabled_at)
         WHEN e.disabled_reason = 'gone' THEN format('it was disabled at %s, since it answered 410: enable it once it is back', e.disabled_at)
         WHEN e.disabled_reason = 'failing' THEN format(
           'it was disabled at %s, after nothing but failures for days: enable it once it is repaired', e.disabled_at)
         WHEN e.failures > 0 THEN format('the last %s attempts failed, the first of them at %s: see last_error', e.failures, e.failing_since)
         WHEN e.quiet_until > now() THEN format('it asked to be left alone until %s (Retry-After)', e.quiet_until)
         WHEN EXISTS (SELECT FROM public.webhook_subjects s WHERE s.endpoint_id = e.id AND s.due_at < now() - interval '5 minutes')
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
