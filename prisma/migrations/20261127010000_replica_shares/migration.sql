-- The ceiling is divided by what each replica wants, no longer equally. Replicas also tell which calls are slow.
ALTER TABLE "remote_replicas"
  ADD COLUMN "demand" DOUBLE PRECISION,
  ADD COLUMN "share" DOUBLE PRECISION,
  ADD COLUMN "slow_operations" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "remote_replicas" ADD CONSTRAINT "remote_replicas_share_is_a_part" CHECK ("demand" BETWEEN 0 AND 1 AND "share" BETWEEN 0 AND 1);

COMMENT ON COLUMN remote_replicas.demand IS 'The part of SCS_MAX_REQUESTS_PER_SECOND that it wants, from 0 to 1: 1 while its calls wait. Null: a replica of a release that did not write it.';
COMMENT ON COLUMN remote_replicas.share IS 'The part of SCS_MAX_REQUESTS_PER_SECOND that it takes, from 0 to 1. Null: an equal part, by counted.';
COMMENT ON COLUMN remote_replicas.slow_operations IS 'The operations of the remote service that took over 2 seconds in most of its latest calls.';
COMMENT ON COLUMN remote_replicas.counted IS 'How many live replicas it counted. Read by replicas of releases that divided the ceiling equally.';
