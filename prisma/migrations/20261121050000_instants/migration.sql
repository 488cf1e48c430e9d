-- not transactional: a transaction that has locked one of the two tables must not wait for the other.
-- Times of the remote service are of the years 1 to 9999 in UTC (src/platform/time/instant.rules.ts). Rows from before may hold others, which
-- the API could not read. No type and no nullability changes here.

-- First the constraints, so that a replica of the release before adds no such row behind the repair. NOT VALID looks at no row: the
-- exclusive lock lasts for a moment, whatever the size of the table. A transaction for each of the two, because one that holds a table
-- and waits for the other could wait for a replica that does the same the other way round.
BEGIN;
ALTER TABLE "users" DROP CONSTRAINT IF EXISTS "users_times_exist";
ALTER TABLE "users" ADD CONSTRAINT "users_times_exist" CHECK (
  least("created_at", "updated_at") >= '0001-01-01 00:00:00+00'
  AND greatest("created_at", "updated_at") <= '9999-12-31 23:59:59.999+00') NOT VALID;
COMMIT;
BEGIN;
ALTER TABLE "onboarding_sessions" DROP CONSTRAINT IF EXISTS "onboarding_sessions_times_exist";
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_times_exist" CHECK (
  least("created_at", "updated_at", "expires_at", "started_updated_at") >= '0001-01-01 00:00:00+00'
  AND greatest("created_at", "updated_at", "expires_at", "started_updated_at") <= '9999-12-31 23:59:59.999+00') NOT VALID;
COMMIT;

-- What follows reads each table twice (2 s for a million users and a million sessions on two shared cores), while others read and
-- write: only the rows that are repaired are locked.

-- Where the remote service gave no time that exists here, a user is as old as our knowledge of it, as when it is registered now.
UPDATE "users"
   SET "created_at" = CASE WHEN "created_at" BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 23:59:59.999+00'
                           THEN "created_at" ELSE "registered_at" END,
       "updated_at" = CASE WHEN "updated_at" BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 23:59:59.999+00' THEN "updated_at"
                           WHEN "created_at" BETWEEN '0001-01-01 00:00:00+00' AND '9999-12-31 23:59:59.999+00' THEN "created_at"
                           ELSE "registered_at" END
 WHERE NOT (least("created_at", "updated_at") >= '0001-01-01 00:00:00+00'
            AND greatest("created_at", "updated_at") <= '9999-12-31 23:59:59.999+00');

-- A time of a session becomes the first or the last that exists here, as when it is read now. updated_at and started_updated_at are
-- compared with each other, and stay equal where they were. changed_at moves, for clients that follow it with updatedSince.
UPDATE "onboarding_sessions"
   SET "created_at" = least(greatest("created_at", '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999+00'),
       "updated_at" = least(greatest("updated_at", '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999+00'),
       "expires_at" = least(greatest("expires_at", '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999+00'),
       "started_updated_at" = least(greatest("started_updated_at", '0001-01-01 00:00:00+00'), '9999-12-31 23:59:59.999+00'),
       "changed_at" = clock_timestamp()
 WHERE NOT (least("created_at", "updated_at", "expires_at", "started_updated_at") >= '0001-01-01 00:00:00+00'
            AND greatest("created_at", "updated_at", "expires_at", "started_updated_at") <= '9999-12-31 23:59:59.999+00');

ALTER TABLE "users" VALIDATE CONSTRAINT "users_times_exist";
ALTER TABLE "onboarding_sessions" VALIDATE CONSTRAINT "onboarding_sessions_times_exist";


COMMENT ON COLUMN users.created_at IS 'createdAt of the remote service, by the remote clock; registered_at where it gave none of the years 1 to 9999.';
COMMENT ON COLUMN users.updated_at IS 'updatedAt of the remote service at the time of registration, by the remote clock; created_at where it gave none of the years 1 to 9999. The interface has no call to read a user again.';
COMMENT ON COLUMN onboarding_sessions.created_at IS 'createdAt of the remote service, by the remote clock. Never before the year 1 or after the year 9999: such a time is stored as the first or the last instant between.';
COMMENT ON COLUMN onboarding_sessions.updated_at IS 'updatedAt of the last answer, by the remote clock; within the years 1 to 9999, like created_at.';
COMMENT ON COLUMN onboarding_sessions.expires_at IS 'expiresAt of the last answer, by the remote clock; within the years 1 to 9999, like created_at. What the remote service does at that moment is not specified.';
COMMENT ON COLUMN onboarding_sessions.started_updated_at IS 'updatedAt of the start answer, by the remote clock; within the years 1 to 9999, like created_at. That updated_at has moved away from it is what awaiting_installation is inferred from.';

-- The columns of the views that show these mean the same.
DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN
    SELECT origin.view, shows.attname AS name, col_description(held.attrelid, held.attnum) AS meaning
      FROM (VALUES ('users', 'users'), ('sessions', 'onboarding_sessions')) AS origin (view, "table")
      JOIN pg_attribute shows ON shows.attrelid = format('admin.%I', origin.view)::regclass
      JOIN pg_attribute held ON held.attrelid = format('public.%I', origin."table")::regclass AND held.attname = shows.attname
     WHERE held.attname IN ('created_at', 'updated_at', 'expires_at')
  LOOP
    EXECUTE format('COMMENT ON COLUMN admin.%I.%I IS %L', shown.view, shown.name, shown.meaning);
  END LOOP;
END $$;
