CREATE OR REPLACE VIEW admin.poll_batches AS
SELECT b.id AS batch_id, b.worker, b.size, b.claimed_at, b.lease_until, b.lease_until < now() AS lease_expired
  FROM public.poll_batches b;
COMMENT ON VIEW admin.poll_batches IS 'Claims of due sessions in progress, one row each: which worker reads how many.';
COMMENT ON COLUMN admin.poll_batches.batch_id IS 'Number of the claim.';
COMMENT ON COLUMN admin.poll_batches.lease_expired IS 'Whether its lease has expired. Then another worker takes over its sessions within a few seconds.';
