-- not transactional: CREATE INDEX CONCURRENTLY cannot run in a transaction.
-- A claim walks the due sessions of each lane: of the same order of magnitude of the planned interval (src/onboarding/rules/lanes.rules.ts,
-- whose list of intervals this repeats). An expression instead of a column, so that whatever writes due_at, an old replica too, writes
-- the lane. The index on due_at stays: the previous release claims by it, and the status counts the overdue with it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "session_polls_lane_idx" ON "session_polls"
  (width_bucket("due_at" - greatest("claimed_at", "planned_at"), '{1 s,4 s,16 s,64 s,256 s,1024 s,4096 s,16384 s}'::interval[]), "due_at");
