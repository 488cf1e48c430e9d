-- How far a message broker has been given the events (docs/events.md, "The broker"). One process at a time publishes: the order of
-- the stream is the order of `sequence`. It holds the row by a lease, and whoever takes the lease over takes the token with it, so
-- that one that was held up cannot move the place any more.

-- CreateTable
CREATE TABLE "broker_positions" (
    "name" TEXT NOT NULL,
    "read_to" BIGINT NOT NULL DEFAULT 0,
    "lease_token" UUID,
    "lease_until" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "published_at" TIMESTAMPTZ(3),

    CONSTRAINT "broker_positions_pkey" PRIMARY KEY ("name")
);

ALTER TABLE "broker_positions" ADD CONSTRAINT "broker_positions_read_to_is_a_place" CHECK ("read_to" >= 0);
ALTER TABLE "broker_positions" ADD CONSTRAINT "broker_positions_lease_ends"
  CHECK (("lease_token" IS NULL) = ("lease_until" IS NULL));
ALTER TABLE "broker_positions" ADD CONSTRAINT "broker_positions_failing_has_reason"
  CHECK (("failing_since" IS NULL) = ("last_error" IS NULL));
-- One row that is written with every page; room for its versions keeps them in its page.
ALTER TABLE "broker_positions" SET (fillfactor = 20);

COMMENT ON TABLE broker_positions IS
  'How far each message broker has been given the events; one row per kind of broker, made when a process is first started with one. Delete it to have everything published again, or once the broker is no longer used.';
COMMENT ON COLUMN broker_positions.name IS 'Kind of the broker: nats.';
COMMENT ON COLUMN broker_positions.read_to IS 'domain_events.sequence up to which the broker has confirmed to hold the events.';
COMMENT ON COLUMN broker_positions.lease_token IS 'Of the process that publishes now; a place is only moved by who holds it. Null when nobody does.';
COMMENT ON COLUMN broker_positions.lease_until IS 'When another process may take over. Null when nobody publishes.';
COMMENT ON COLUMN broker_positions.failing_since IS 'Since when the broker has taken nothing. Null while it does.';
COMMENT ON COLUMN broker_positions.last_error IS 'Why, without secrets. Null while it takes events.';
COMMENT ON COLUMN broker_positions.published_at IS 'When the broker confirmed an event last. Null when never.';
