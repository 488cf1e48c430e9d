-- The status counts the sessions whose inverters are missing.
CREATE INDEX CONCURRENTLY "inverters_missing_idx" ON "inverters" ("session_id") WHERE "missing_since" IS NOT NULL;
