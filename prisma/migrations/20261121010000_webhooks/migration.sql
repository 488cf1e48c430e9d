-- Webhooks (docs/webhooks.md). An endpoint reads the outbox by `sequence`, which never passes over an event that commits late, and
-- keeps its place in `read_to`: writers of events pay nothing for it, and one that is disabled goes on later where it stopped.

-- CreateTable
CREATE TABLE "webhook_endpoints" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "url" TEXT NOT NULL,
    "types" TEXT[],
    "description" TEXT NOT NULL DEFAULT '',
    "headers_ciphertext" BYTEA,
    "secret_ciphertext" BYTEA NOT NULL,
    "previous_secret_ciphertext" BYTEA,
    "previous_secret_until" TIMESTAMPTZ(3),
    "read_to" BIGINT NOT NULL,
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "quiet_until" TIMESTAMPTZ(3),
    "last_delivered_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "created_by" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "endpoint_id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "subject" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT clock_timestamp(),
    "last_attempt_at" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,
    "last_answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_endpoints_created_at_id_idx" ON "webhook_endpoints"("created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_endpoint_id_created_at_id_idx" ON "webhook_deliveries"("endpoint_id", "created_at", "id");

-- An erasure looks by subject for what an answer may have quoted.
-- CreateIndex
CREATE INDEX "webhook_deliveries_subject_idx" ON "webhook_deliveries"("subject");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_endpoint_id_position_key" ON "webhook_deliveries"("endpoint_id", "position");

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoints"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_position_fkey" FOREIGN KEY ("position") REFERENCES "domain_events"("position") ON DELETE CASCADE ON UPDATE CASCADE;


ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_types_are_names"
  CHECK ("types" IS NOT NULL AND array_position("types", NULL) IS NULL);
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_previous_secret_ends"
  CHECK (("previous_secret_ciphertext" IS NULL) = ("previous_secret_until" IS NULL));
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_disabled_has_reason"
  CHECK (("disabled_at" IS NULL) = ("disabled_reason" IS NULL) AND "disabled_reason" IN ('requested', 'gone', 'failing'));
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_failing_since_first_failure"
  CHECK (("failures" = 0) = ("failing_since" IS NULL));

ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_status_is_known"
  CHECK ("status" IN ('pending', 'delivered', 'failed'));
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_only_pending_has_next_attempt"
  CHECK (("status" = 'pending') = ("next_attempt_at" IS NOT NULL));
-- The few that are still to be sent, among all that ever were; in order within a subject.
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" ("endpoint_id", "subject", "position") WHERE "status" = 'pending';
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" ("endpoint_id", "next_attempt_at") WHERE "status" = 'pending';
ALTER TABLE "webhook_deliveries" SET (fillfactor = 80);

COMMENT ON TABLE webhook_endpoints IS
  'Where events are sent as webhooks (docs/webhooks.md), how far each has been given them, and how it has been answering.';
COMMENT ON COLUMN webhook_endpoints.id IS 'Our id of the endpoint.';
COMMENT ON COLUMN webhook_endpoints.url IS 'Where to. May hold a secret of the receiver in its path or query, so it is in no log.';
COMMENT ON COLUMN webhook_endpoints.types IS 'Names of the events it asked for; empty means all.';
COMMENT ON COLUMN webhook_endpoints.description IS 'What its maker said of it.';
COMMENT ON COLUMN webhook_endpoints.headers_ciphertext IS 'Its own headers as a JSON object, encrypted and bound to this row. Null when it has none.';
COMMENT ON COLUMN webhook_endpoints.secret_ciphertext IS 'The secret that signs, encrypted and bound to this row; it was shown once.';
COMMENT ON COLUMN webhook_endpoints.previous_secret_ciphertext IS 'The secret before the last rotation, which signs too until previous_secret_until. Null when there is none.';
COMMENT ON COLUMN webhook_endpoints.previous_secret_until IS 'Until when the previous secret signs too. Null when there is none.';
COMMENT ON COLUMN webhook_endpoints.read_to IS 'domain_events.sequence up to which its deliveries have been written.';
COMMENT ON COLUMN webhook_endpoints.disabled_at IS 'Since when nothing is sent. Null while it is enabled.';
COMMENT ON COLUMN webhook_endpoints.disabled_reason IS 'requested: somebody asked; gone: it answered 410; failing: nothing but failures for days. Null while it is enabled.';
COMMENT ON COLUMN webhook_endpoints.failures IS 'Attempts in a row that failed, whatever the event.';
COMMENT ON COLUMN webhook_endpoints.failing_since IS 'When the first of them was. Null when the last attempt succeeded.';
COMMENT ON COLUMN webhook_endpoints.quiet_until IS 'Nothing is sent before: it asked so by Retry-After, or it has been failing. Null when it has never been quiet.';
COMMENT ON COLUMN webhook_endpoints.last_delivered_at IS 'When it took an event last. Null when never.';
COMMENT ON COLUMN webhook_endpoints.created_at IS 'When it was made.';
COMMENT ON COLUMN webhook_endpoints.created_by IS 'Who made it, as in audit_log.actor.';
COMMENT ON COLUMN webhook_endpoints.updated_at IS 'When a person or key changed it last.';

COMMENT ON TABLE webhook_deliveries IS
  'One row per event and webhook endpoint. Written when the endpoint''s place in the outbox moves over the event; kept afterwards as the log.';
COMMENT ON COLUMN webhook_deliveries.id IS 'Our id of the delivery.';
COMMENT ON COLUMN webhook_deliveries.endpoint_id IS 'Where to.';
COMMENT ON COLUMN webhook_deliveries.position IS 'The event, by domain_events.position.';
COMMENT ON COLUMN webhook_deliveries.subject IS 'The subject of the event, within which an endpoint gets events in order.';
COMMENT ON COLUMN webhook_deliveries.status IS 'pending: to be sent, or sent again; delivered: answered with a 2xx; failed: given up after the whole schedule, can be sent again on request.';
COMMENT ON COLUMN webhook_deliveries.attempts IS 'How often it was sent since it was written or asked for again.';
COMMENT ON COLUMN webhook_deliveries.next_attempt_at IS 'Not before; also waits for earlier ones of its subject. Null unless pending.';
COMMENT ON COLUMN webhook_deliveries.last_attempt_at IS 'When it was sent last. Null when never.';
COMMENT ON COLUMN webhook_deliveries.last_status IS 'HTTP status of the last answer. Null when there was none.';
COMMENT ON COLUMN webhook_deliveries.last_error IS 'Why the last attempt failed. Null when it did not.';
COMMENT ON COLUMN webhook_deliveries.last_answer IS 'The first kilobyte of the last answer''s body. Null when there was none, and after an erasure.';
COMMENT ON COLUMN webhook_deliveries.created_at IS 'When it was written.';
