-- noticed_seconds_p95 and noticed_seconds_p50: see src/status/status.sql.ts for the reasons.
CREATE OR REPLACE VIEW admin.poll_lag AS
WITH noticed AS (
  SELECT percentile_cont(ARRAY[0.95, 0.5]) WITHIN GROUP (ORDER BY extract(epoch FROM t.at - s.updated_at)::float8) AS seconds
    FROM (VALUES ('awaiting_installation'), ('online')) AS fresh (state)
   CROSS JOIN LATERAL (
           SELECT session_id, at FROM public.session_transitions
            WHERE to_state = fresh.state AND at > now() - interval '1 hour' AND from_state IS NOT NULL
            ORDER BY at DESC LIMIT 1000) t
    JOIN public.onboarding_sessions s ON s.id = t.session_id
   WHERE s.state_changed_at = t.at AND s.updated_at BETWEEN s.recorded_at AND least(t.at, s.recorded_at + interval '10 minutes')
)
SELECT coalesce(p.phase, 'all') AS phase,
       count(*) AS watched,
       count(p.overdue) AS due,
       round(max(p.overdue)::numeric, 1) AS overdue_seconds_max,
       round(percentile_cont(0.95) WITHIN GROUP (ORDER BY p.overdue)::numeric, 1) AS overdue_seconds_p95,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY p.overdue)::numeric, 1) AS overdue_seconds_p50,
       count(*) FILTER (WHERE p.failures > 0) AS failing,
       count(p.batch_id) AS being_read,
       count(DISTINCT p.batch_id) FILTER (WHERE p.lease_until >= now()) AS live_batches,
       count(DISTINCT p.batch_id) FILTER (WHERE p.lease_until < now()) AS expired_leases,
       (SELECT round(stretch::numeric, 2) FROM public.read_budget) AS stretch,
       (SELECT round(wanted_per_second::numeric, 2) FROM public.read_budget) AS wanted_per_second,
       (SELECT round(allowed_per_second::numeric, 2) FROM public.read_budget) AS allowed_per_second,
       (SELECT round(sum(reads_per_second)::numeric, 2) FROM public.remote_replicas WHERE expires_at > now()) AS read_per_second,
       (SELECT round(seconds[1]::numeric, 1) FROM noticed) AS noticed_seconds_p95,
       (SELECT round(seconds[2]::numeric, 1) FROM noticed) AS noticed_seconds_p50
  FROM (SELECT w.phase, w.failures, b.id AS batch_id, b.lease_until,
               CASE WHEN w.due_at <= now() AND b.id IS NULL THEN extract(epoch FROM now() - w.due_at)::float8 END AS overdue
          FROM public.session_polls w
          LEFT JOIN public.poll_batches b ON b.id = w.batch_id
         WHERE w.phase <> 'watching') p
 GROUP BY GROUPING SETS ((p.phase), ());
COMMENT ON VIEW admin.poll_lag IS 'How far behind the reading of sessions is, one row for each phase and one for all. Settled sessions are not counted: nobody waits for their reads.';
COMMENT ON COLUMN admin.poll_lag.phase IS 'Phase of the sessions (see admin.sessions.phase), or all.';
COMMENT ON COLUMN admin.poll_lag.watched IS 'Sessions that are watched.';
COMMENT ON COLUMN admin.poll_lag.due IS 'Sessions that are due and not claimed.';
COMMENT ON COLUMN admin.poll_lag.overdue_seconds_max IS 'For how many seconds the most overdue of the due sessions has been due. Null if none is due. A few seconds are normal.';
COMMENT ON COLUMN admin.poll_lag.overdue_seconds_p95 IS '95th percentile of the same over the due sessions.';
COMMENT ON COLUMN admin.poll_lag.overdue_seconds_p50 IS 'Median of the same over the due sessions.';
COMMENT ON COLUMN admin.poll_lag.failing IS 'Sessions whose last read failed or found nothing.';
COMMENT ON COLUMN admin.poll_lag.being_read IS 'Sessions that a worker has claimed and not completed.';
COMMENT ON COLUMN admin.poll_lag.live_batches IS 'Claims of such sessions whose lease is valid.';
COMMENT ON COLUMN admin.poll_lag.expired_leases IS 'Claims of such sessions whose lease has expired. More than a moment above 0: no worker is running.';
COMMENT ON COLUMN admin.poll_lag.stretch IS 'By how much all intervals are longer than planned, for all phases alike. 1: all reads fit the budget.';
COMMENT ON COLUMN admin.poll_lag.read_per_second IS 'Reads per second of all live replicas, in the last 10 seconds. Null if none is alive.';
COMMENT ON COLUMN admin.poll_lag.noticed_seconds_p95 IS 'How long after a change of a session in its first 10 minutes it was noticed, in the last hour, for all phases alike: the 95th percentile. Null without changes.';
COMMENT ON COLUMN admin.poll_lag.noticed_seconds_p50 IS 'Median of the same.';
