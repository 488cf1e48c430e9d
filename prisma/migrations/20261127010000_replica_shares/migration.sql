-- The ceiling is divided by what each replica wants, no longer equally.
ALTER TABLE "remote_replicas"
  ADD COLUMN "demand_per_second" DOUBLE PRECISION,
  ADD COLUMN "share_per_second" DOUBLE PRECISION;
ALTER TABLE "remote_replicas" ADD CONSTRAINT "remote_replicas_share_is_not_negative" CHECK ("demand_per_second" >= 0 AND "share_per_second" >= 0);

COMMENT ON COLUMN remote_replicas.demand_per_second IS 'The calls per second that it wants: SCS_MAX_REQUESTS_PER_SECOND while its calls wait. Null: a replica of a release that did not write it.';
COMMENT ON COLUMN remote_replicas.share_per_second IS 'The share of SCS_MAX_REQUESTS_PER_SECOND that it takes. Null: an equal share, by counted.';
COMMENT ON COLUMN remote_replicas.counted IS 'How many live replicas it counted. Read by replicas of releases that divided the ceiling equally.';
