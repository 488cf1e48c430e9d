CREATE OR REPLACE VIEW admin.remote_health AS
SELECT o.operation,
       o.health,
       o.since,
       o.reason,
       CASE WHEN o.quiet_until > now() THEN o.quiet_until END AS quiet_until
  FROM public.remote_operations o;
COMMENT ON VIEW admin.remote_health IS 'The state of the remote service that all replicas share, one row for each class of operations.';
COMMENT ON COLUMN admin.remote_health.quiet_until IS 'Until when no replica sends this operation, because the service asked for it. Null if it did not, or the time is over.';
