-- What a process knows of itself and others should see, and whether a process that is gone stopped or vanished.
ALTER TABLE "remote_replicas"
  ADD COLUMN "stopped_at" TIMESTAMPTZ(3),
  ADD COLUMN "clock_offset_seconds" DOUBLE PRECISION,
  ADD COLUMN "signs" JSONB NOT NULL DEFAULT '{}';

COMMENT ON TABLE remote_replicas IS 'The running processes of the deployment, one row each, written by each about itself. SCS_MAX_REQUESTS_PER_SECOND is divided among the live ones. The row of a process that stopped or vanished stays for an hour.';
COMMENT ON COLUMN remote_replicas.stopped_at IS 'When it stopped in order. Null: it runs or has vanished.';
COMMENT ON COLUMN remote_replicas.clock_offset_seconds IS 'By how much its clock was ahead of the clock of the database at its last sign of life. Null: a replica of a release that did not write it.';
COMMENT ON COLUMN remote_replicas.signs IS 'What it tells of itself: requests and failedRequests of the last minute, waitingForConnectionsSeconds and longestStatement while its pool is used up, hasNoSpace, and latestCalls of each operation of the remote service with the slow ones.';
