CREATE OR REPLACE VIEW admin.brand_waits AS
SELECT w.brand, w.p50_seconds, w.p95_seconds, w.known
  FROM public.brand_waits w;
COMMENT ON VIEW admin.brand_waits IS 'How long the sessions of a brand waited for their installation in the last 90 days, counted once a day. Brands of which fewer than 20 are known have no row.';
