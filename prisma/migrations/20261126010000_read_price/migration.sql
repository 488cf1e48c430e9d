-- By how much all replicas lengthen the intervals between reads, and from what it follows. One row: a control step is one conditional update.
CREATE TABLE "read_price" (
    "id" BOOLEAN NOT NULL DEFAULT true,
    "stretch" DOUBLE PRECISION NOT NULL DEFAULT 1,
    "wanted_per_second" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "measure_after" TIMESTAMPTZ(3),
    "allowed_per_second" DOUBLE PRECISION,
    "capacity_per_second" DOUBLE PRECISION,
    "ceiling_per_second" DOUBLE PRECISION,
    "was_behind" BOOLEAN NOT NULL DEFAULT false,
    "read_per_second" DOUBLE PRECISION,
    "reads" BIGINT NOT NULL DEFAULT 0,
    "step_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "short_since" TIMESTAMPTZ(3),
    "announced_at" TIMESTAMPTZ(3),
    CONSTRAINT "read_price_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "read_price_is_one_row" CHECK ("id"),
    CONSTRAINT "read_price_stretch_is_at_least_1" CHECK ("stretch" >= 1)
);
INSERT INTO "read_price" DEFAULT VALUES;

COMMENT ON TABLE read_price IS 'By how much all intervals between reads are longer than planned, so that the reads fit the budget. One row, written by whichever worker is first after a period.';
COMMENT ON COLUMN read_price.id IS 'Always true: there is one row.';
COMMENT ON COLUMN read_price.stretch IS 'Every planned interval is multiplied by this. 1: there is room for all reads.';
COMMENT ON COLUMN read_price.wanted_per_second IS 'Reads per second that all watched sessions would take at stretch 1.';
COMMENT ON COLUMN read_price.measure_after IS 'When wanted_per_second is measured again: its scan may take at most 2 % of the time. Null before the first time.';
COMMENT ON COLUMN read_price.allowed_per_second IS 'Reads per second to which the stretch leads. Null if nothing is known to limit them.';
COMMENT ON COLUMN read_price.capacity_per_second IS 'Reads per second that were done while sessions waited. Null if that limits nothing.';
COMMENT ON COLUMN read_price.ceiling_per_second IS 'SCS_MAX_REQUESTS_PER_SECOND in the last period, under which capacity_per_second was learned. Infinity: none is set. Null before the first period.';
COMMENT ON COLUMN read_price.was_behind IS 'Whether more sessions waited at the end of the last period than were read in it. One such period alone teaches no capacity.';
COMMENT ON COLUMN read_price.read_per_second IS 'Reads per second in the last period. Null if the remote service was not healthy in it.';
COMMENT ON COLUMN read_price.reads IS 'Reads since step_at, added up by every worker.';
COMMENT ON COLUMN read_price.step_at IS 'When a worker last began to compute the stretch.';
COMMENT ON COLUMN read_price.short_since IS 'Since when the stretch has been above the bound of remote.budget_short. Null if it is not.';
COMMENT ON COLUMN read_price.announced_at IS 'When remote.budget_short was announced. Null if it was not, or is over.';

-- New columns: stretch and those after it.
CREATE OR REPLACE VIEW admin.poll_lag AS
SELECT coalesce(p.phase, 'all') AS phase,
       count(*) AS watched,
       count(*) FILTER (WHERE p.due_at <= now() AND b.id IS NULL) AS due,
       round(max(extract(epoch FROM now() - p.due_at)) FILTER (WHERE p.due_at <= now() AND b.id IS NULL), 1) AS overdue_seconds_max,
       round((percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM now() - p.due_at)::float8)
         FILTER (WHERE p.due_at <= now() AND b.id IS NULL))::numeric, 1) AS overdue_seconds_p95,
       round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM now() - p.due_at)::float8)
         FILTER (WHERE p.due_at <= now() AND b.id IS NULL))::numeric, 1) AS overdue_seconds_p50,
       count(*) FILTER (WHERE p.failures > 0) AS failing,
       count(b.id) AS being_read,
       count(DISTINCT b.id) FILTER (WHERE b.lease_until >= now()) AS live_batches,
       count(DISTINCT b.id) FILTER (WHERE b.lease_until < now()) AS expired_leases,
       (SELECT round(stretch::numeric, 2) FROM public.read_price) AS stretch,
       (SELECT round(wanted_per_second::numeric, 2) FROM public.read_price) AS wanted_per_second,
       (SELECT round(allowed_per_second::numeric, 2) FROM public.read_price) AS allowed_per_second,
       (SELECT round(read_per_second::numeric, 2) FROM public.read_price) AS read_per_second
  FROM public.session_polls p
  LEFT JOIN public.poll_batches b ON b.id = p.batch_id
 GROUP BY GROUPING SETS ((p.phase), ());
COMMENT ON COLUMN admin.poll_lag.stretch IS 'By how much all intervals are longer than planned, for all phases alike. 1: there is room for all reads.';
COMMENT ON COLUMN admin.poll_lag.wanted_per_second IS 'Reads per second that all watched sessions would take at stretch 1.';
COMMENT ON COLUMN admin.poll_lag.allowed_per_second IS 'Reads per second to which the stretch leads. Null if nothing is known to limit them.';
COMMENT ON COLUMN admin.poll_lag.read_per_second IS 'Reads per second of the poller in the last period. Null if the remote service was not healthy in it.';
