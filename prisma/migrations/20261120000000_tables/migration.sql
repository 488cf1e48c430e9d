-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "tenant_reference" TEXT NOT NULL,
    "tenant_name" TEXT NOT NULL,
    "first_name" TEXT NOT NULL,
    "last_name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "metadata" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "registered_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "grid_locations" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "ean" TEXT NOT NULL,

    CONSTRAINT "grid_locations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "registrations" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "tenant_reference" TEXT NOT NULL,
    "eans" TEXT[],
    "metadata" JSONB NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "user_id" UUID,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_token" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "registrations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session_starts" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "grid_location_id" UUID NOT NULL,
    "brand" TEXT,
    "status" TEXT NOT NULL DEFAULT 'sending',
    "attempts" INTEGER NOT NULL DEFAULT 1,
    "orphans" INTEGER NOT NULL DEFAULT 0,
    "session_id" UUID,
    "last_error" TEXT,
    "lease_token" UUID NOT NULL,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "session_starts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "onboarding_sessions" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "grid_location_id" UUID NOT NULL,
    "brand" TEXT,
    "metadata" JSONB NOT NULL,
    "state" TEXT NOT NULL,
    "basis" TEXT NOT NULL,
    "rule" TEXT NOT NULL,
    "finished" BOOLEAN NOT NULL,
    "active" BOOLEAN NOT NULL,
    "expired" BOOLEAN,
    "start_url_ciphertext" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "started_updated_at" TIMESTAMPTZ(3) NOT NULL,
    "state_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "superseded_at" TIMESTAMPTZ(3),
    "last_checked_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    "close_reason" TEXT,

    CONSTRAINT "onboarding_sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session_polls" (
    "session_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "batch_id" BIGINT,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,
    "phase" TEXT NOT NULL,
    "anchor_at" TIMESTAMPTZ(3) NOT NULL,
    "failures" SMALLINT NOT NULL DEFAULT 0,
    "not_found" SMALLINT NOT NULL DEFAULT 0,
    "answer_hash" BYTEA,
    "last_error" TEXT,

    CONSTRAINT "session_polls_pkey" PRIMARY KEY ("session_id")
);

-- CreateTable
CREATE TABLE "poll_batches" (
    "id" BIGSERIAL NOT NULL,
    "worker" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "poll_batches_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session_observations" (
    "id" BIGSERIAL NOT NULL,
    "session_id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "http_status" SMALLINT NOT NULL,
    "body" JSON,
    "hash" BYTEA NOT NULL,
    "observed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "session_observations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session_transitions" (
    "id" BIGSERIAL NOT NULL,
    "session_id" UUID NOT NULL,
    "from_state" TEXT,
    "to_state" TEXT NOT NULL,
    "basis" TEXT NOT NULL,
    "rule" TEXT NOT NULL,
    "observation_id" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "session_transitions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inverters" (
    "session_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "missing_since" TIMESTAMPTZ(3),

    CONSTRAINT "inverters_pkey" PRIMARY KEY ("session_id","id")
);

-- CreateTable
CREATE TABLE "domain_events" (
    "id" UUID NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "sequence" BIGINT,
    "name" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "domain_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_handlers" (
    "name" TEXT NOT NULL,
    "events" TEXT[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "event_handlers_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "handler_deliveries" (
    "handler" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "subject" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "handler_deliveries_pkey" PRIMARY KEY ("handler","position")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "name" TEXT NOT NULL,
    "scopes" TEXT[],
    "key_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "created_by" TEXT NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "remote_tokens" (
    "name" TEXT NOT NULL,
    "generation" BIGINT NOT NULL DEFAULT 0,
    "token_ciphertext" BYTEA,
    "token_type" TEXT,
    "expires_in_raw" TEXT,
    "obtained_at" TIMESTAMPTZ(3),
    "renew_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "rejected_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_token" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "credentials_fingerprint" TEXT,

    CONSTRAINT "remote_tokens_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "audit_log" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "target" TEXT,
    "details" JSONB NOT NULL,
    "request_id" TEXT,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_tenant_reference_key" ON "users"("tenant_reference");

-- CreateIndex
CREATE INDEX "users_registered_at_id_idx" ON "users"("registered_at", "id");

-- CreateIndex
CREATE INDEX "grid_locations_ean_idx" ON "grid_locations"("ean");

-- CreateIndex
CREATE UNIQUE INDEX "grid_locations_user_id_ean_key" ON "grid_locations"("user_id", "ean");

-- CreateIndex
CREATE INDEX "registrations_created_at_id_idx" ON "registrations"("created_at", "id");

-- CreateIndex
CREATE INDEX "registrations_user_id_idx" ON "registrations"("user_id");

-- CreateIndex
CREATE INDEX "registrations_tenant_reference_idx" ON "registrations"("tenant_reference");

-- CreateIndex
CREATE INDEX "session_starts_session_id_idx" ON "session_starts"("session_id");

-- CreateIndex
CREATE INDEX "session_starts_grid_location_id_idx" ON "session_starts"("grid_location_id");

-- CreateIndex
CREATE INDEX "onboarding_sessions_user_id_idx" ON "onboarding_sessions"("user_id");

-- CreateIndex
CREATE INDEX "onboarding_sessions_grid_location_id_idx" ON "onboarding_sessions"("grid_location_id");

-- CreateIndex
CREATE INDEX "onboarding_sessions_changed_at_id_idx" ON "onboarding_sessions"("changed_at", "id");

-- CreateIndex
CREATE INDEX "onboarding_sessions_state_changed_at_id_idx" ON "onboarding_sessions"("state", "changed_at", "id");

-- CreateIndex
CREATE INDEX "session_polls_due_at_idx" ON "session_polls"("due_at");

-- CreateIndex
CREATE INDEX "session_observations_session_id_id_idx" ON "session_observations"("session_id", "id");

-- CreateIndex
CREATE INDEX "session_transitions_session_id_id_idx" ON "session_transitions"("session_id", "id");

-- CreateIndex
CREATE INDEX "session_transitions_to_state_at_idx" ON "session_transitions"("to_state", "at");

-- CreateIndex
CREATE INDEX "session_transitions_observation_id_idx" ON "session_transitions"("observation_id");

-- CreateIndex
CREATE INDEX "inverters_id_idx" ON "inverters"("id");

-- CreateIndex
CREATE INDEX "inverters_first_seen_at_id_idx" ON "inverters"("first_seen_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "domain_events_position_key" ON "domain_events"("position");

-- CreateIndex
CREATE UNIQUE INDEX "domain_events_sequence_key" ON "domain_events"("sequence");

-- CreateIndex
CREATE INDEX "domain_events_subject_position_idx" ON "domain_events"("subject", "position");

-- CreateIndex
CREATE INDEX "domain_events_time_idx" ON "domain_events" USING BRIN ("time" timestamptz_minmax_multi_ops);

-- CreateIndex
CREATE INDEX "handler_deliveries_handler_subject_position_idx" ON "handler_deliveries"("handler", "subject", "position");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");

-- CreateIndex
CREATE INDEX "api_keys_created_at_id_idx" ON "api_keys"("created_at", "id");

-- CreateIndex
CREATE INDEX "audit_log_at_idx" ON "audit_log"("at");

-- CreateIndex
CREATE INDEX "audit_log_target_idx" ON "audit_log"("target");

-- AddForeignKey
ALTER TABLE "grid_locations" ADD CONSTRAINT "grid_locations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session_starts" ADD CONSTRAINT "session_starts_grid_location_id_fkey" FOREIGN KEY ("grid_location_id") REFERENCES "grid_locations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session_starts" ADD CONSTRAINT "session_starts_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "onboarding_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_grid_location_id_fkey" FOREIGN KEY ("grid_location_id") REFERENCES "grid_locations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session_polls" ADD CONSTRAINT "session_polls_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "onboarding_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session_observations" ADD CONSTRAINT "session_observations_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "onboarding_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session_transitions" ADD CONSTRAINT "session_transitions_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "onboarding_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session_transitions" ADD CONSTRAINT "session_transitions_observation_id_fkey" FOREIGN KEY ("observation_id") REFERENCES "session_observations"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "inverters" ADD CONSTRAINT "inverters_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "onboarding_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "handler_deliveries" ADD CONSTRAINT "handler_deliveries_handler_fkey" FOREIGN KEY ("handler") REFERENCES "event_handlers"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "handler_deliveries" ADD CONSTRAINT "handler_deliveries_position_fkey" FOREIGN KEY ("position") REFERENCES "domain_events"("position") ON DELETE CASCADE ON UPDATE CASCADE;


-- What follows Prisma cannot say. Each line carries its reason.

-- An EAN is text from the first byte to the last; 18 digits, and none of them lost.
ALTER TABLE "grid_locations" ADD CONSTRAINT "grid_locations_ean_is_18_digits" CHECK ("ean" ~ '^[0-9]{18}$');
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_eans_are_18_digits"
  CHECK ("eans" IS NOT NULL AND array_to_string("eans", ',') ~ '^[0-9]{18}(,[0-9]{18})*$'
    -- Neither a null, which array_to_string leaves out, nor two in one element.
    AND length(array_to_string("eans", ',')) = 19 * cardinality("eans") - 1);

ALTER TABLE "registrations" ADD CONSTRAINT "registrations_status_is_known"
  CHECK ("status" IN ('pending', 'registered', 'rejected', 'uncertain', 'discarded'));
-- The user a registration led to may be erased later, so `registered` does not imply a user_id; a user_id implies `registered`.
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_user_only_when_registered"
  CHECK ("user_id" IS NULL OR "status" = 'registered');
-- Only an intent that may still be sent can be leased or have a next attempt.
ALTER TABLE "registrations" ADD CONSTRAINT "registrations_lease_only_while_pending"
  CHECK (("lease_token" IS NULL) = ("lease_until" IS NULL)
    AND ("status" = 'pending' OR ("lease_token" IS NULL AND "next_attempt_at" IS NULL)));
-- One registration per tenantReference, whatever the concurrency. A rejected or discarded one had no effect
-- (or a person said so), so the tenant may ask again.
CREATE UNIQUE INDEX "registrations_one_per_reference" ON "registrations" ("tenant_reference")
  WHERE "status" IN ('pending', 'registered', 'uncertain');
-- The open ones are few among all that were ever made, and they are what a person asks for.
CREATE INDEX "registrations_open" ON "registrations" ("created_at", "id") WHERE "status" IN ('pending', 'uncertain');
-- The sweep for work to do and for senders that died reads only the few that are pending.
CREATE INDEX "registrations_pending" ON "registrations" ("next_attempt_at") WHERE "status" = 'pending';

ALTER TABLE "session_starts" ADD CONSTRAINT "session_starts_status_is_known"
  CHECK ("status" IN ('sending', 'started', 'failed'));
ALTER TABLE "session_starts" ADD CONSTRAINT "session_starts_started_has_session"
  CHECK (("status" = 'started') = ("session_id" IS NOT NULL));
-- One start in flight per location and brand: a double click waits for the first. No brand is a brand of its own.
CREATE UNIQUE INDEX "session_starts_one_in_flight" ON "session_starts" ("grid_location_id", "brand")
  NULLS NOT DISTINCT WHERE "status" = 'sending';

ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_state_is_known"
  CHECK ("state" IN ('awaiting_owner', 'awaiting_installation', 'online', 'expired', 'lost', 'unrecognised'));
-- Only awaiting_installation is inferred: the interface shows no flag for "the owner has finished the web flow".
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_basis_follows_state"
  CHECK ("basis" = CASE WHEN "state" = 'awaiting_installation' THEN 'inferred' ELSE 'observed' END);
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_close_has_reason"
  CHECK (("closed_at" IS NULL) = ("close_reason" IS NULL)
    AND ("close_reason" IS NULL OR "close_reason" IN ('settled', 'late_window_over', 'lost', 'erased')));
-- startUrl is a bearer capability: it is kept only while the web flow is open.
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_start_url_only_while_open"
  CHECK ("start_url_ciphertext" IS NULL
    OR ("state" IN ('awaiting_owner', 'awaiting_installation') AND "closed_at" IS NULL));
-- One current session per location and brand; a newer one supersedes it in the same transaction.
CREATE UNIQUE INDEX "onboarding_sessions_one_current" ON "onboarding_sessions" ("grid_location_id", "brand")
  NULLS NOT DISTINCT WHERE "superseded_at" IS NULL;

ALTER TABLE "session_polls" ADD CONSTRAINT "session_polls_phase_is_known"
  CHECK ("phase" IN ('awaiting_owner', 'awaiting_installation', 'settling', 'late', 'unrecognised'));
-- Every poll moves due_at, which is indexed, so no poll can be HOT; room on the page keeps the new version beside the old.
-- The table is small and turns over all day: vacuum by a small fraction, without the cost delay that would let it fall behind.
ALTER TABLE "session_polls" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE "poll_batches" SET (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);

ALTER TABLE "session_transitions" ADD CONSTRAINT "session_transitions_move"
  CHECK ("from_state" IS DISTINCT FROM "to_state");
ALTER TABLE "session_transitions" ADD CONSTRAINT "session_transitions_states_are_known"
  CHECK ("from_state" IN ('awaiting_owner', 'awaiting_installation', 'online', 'expired', 'lost', 'unrecognised')
    AND "to_state" IN ('awaiting_owner', 'awaiting_installation', 'online', 'expired', 'lost', 'unrecognised'));
ALTER TABLE "session_transitions" ADD CONSTRAINT "session_transitions_basis_follows_state"
  CHECK ("basis" = CASE WHEN "to_state" = 'awaiting_installation' THEN 'inferred' ELSE 'observed' END);

-- A reader's position must never pass an event that has not committed yet, so the sequence is given after the commit,
-- by whoever reads next, and this index holds only the few that wait for theirs.
CREATE INDEX "domain_events_unsequenced" ON "domain_events" ("position") WHERE "sequence" IS NULL;
ALTER TABLE "domain_events" SET (fillfactor = 90);
-- Events of the last hour are asked for by people only, so their index must cost nothing: a few pages for millions of events.
-- minmax_multi, because sequencing leaves gaps that newer events fill; autosummarize, because what waits for it is scanned whole.
ALTER INDEX "domain_events_time_idx" SET (autosummarize = on);

ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_hash_is_sha256" CHECK (octet_length("key_hash") = 32);
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_scopes_are_known" CHECK ("scopes" IS NOT NULL AND "scopes" <@ ARRAY[
  'users:read', 'users:write', 'onboarding:read', 'onboarding:write', 'events:read', 'webhooks:manage', 'admin']);

ALTER TABLE "remote_tokens" ADD CONSTRAINT "remote_tokens_token_has_times"
  CHECK ("token_ciphertext" IS NULL OR ("obtained_at" IS NOT NULL AND "renew_at" IS NOT NULL AND "expires_at" IS NOT NULL));
