CREATE OR REPLACE VIEW admin.contract_drift AS
SELECT d.operation, d.kind, d.field, d.expected, d.found, d.first_seen_at, d.last_seen_at
  FROM public.remote_drift d;
COMMENT ON VIEW admin.contract_drift IS 'How responses of the remote service differ from its interface description, one row for each difference. Names and types only.';
