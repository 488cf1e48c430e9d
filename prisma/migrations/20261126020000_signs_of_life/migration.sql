-- Every replica shows that it is alive, also without SCS_MAX_REQUESTS_PER_SECOND.
ALTER TABLE "remote_replicas"
  ADD COLUMN "role" TEXT,
  ADD COLUMN "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  ADD COLUMN "reads_per_second" DOUBLE PRECISION NOT NULL DEFAULT 0,
  ADD COLUMN "paced_since" TIMESTAMPTZ(3);
ALTER TABLE "remote_replicas" ADD CONSTRAINT "remote_replicas_role_is_known" CHECK ("role" IN ('api', 'worker', 'all'));

COMMENT ON TABLE remote_replicas IS 'The running processes of the deployment, one row each, written by each about itself. SCS_MAX_REQUESTS_PER_SECOND is divided among the live ones. A process that stops deletes its row; the row of one that died stays for an hour.';
COMMENT ON COLUMN remote_replicas.role IS 'ROLE of the process. Null: a replica of a release that did not write it.';
COMMENT ON COLUMN remote_replicas.seen_at IS 'Its last sign of life, by the clock of the database.';
COMMENT ON COLUMN remote_replicas.reads_per_second IS 'Reads of sessions that the remote service served to it, per second, in the last 10 seconds.';
COMMENT ON COLUMN remote_replicas.paced_since IS 'Since when its calls have waited for its share of SCS_MAX_REQUESTS_PER_SECOND. Null: none waits.';
COMMENT ON COLUMN remote_operations.health IS 'healthy: nothing is known to be wrong. degraded: a replica has stopped calling after failures, or was asked to wait for a minute in total within 5 minutes. credentials_rejected: the service refuses the credentials or fresh tokens (operation token only). Announced as remote.recovered, remote.degraded, remote.credentials_rejected, each once.';
