CREATE OR REPLACE VIEW admin.remote_health AS
SELECT o.operation,
       o.health,
       o.since,
       o.reason,
       CASE WHEN o.quiet_until > now() THEN o.quiet_until END AS quiet_until
  FROM public.remote_operations o;
COMMENT ON VIEW admin.remote_health IS 'How all replicas together find the remote service, one row for each class of operations.';
COMMENT ON COLUMN admin.remote_health.health IS 'healthy: nothing is known to be wrong. degraded: a replica has stopped calling after failures, or was asked to wait for a minute or longer. credentials_rejected: the service refuses the credentials or fresh tokens (operation token only). Announced as remote.recovered, remote.degraded, remote.credentials_rejected, each once.';
COMMENT ON COLUMN admin.remote_health.quiet_until IS 'Until when the service has asked to be left alone by this operation. Null when it has not, or the time is over.';
