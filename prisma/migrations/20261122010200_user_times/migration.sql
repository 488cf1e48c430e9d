-- If the remote service gives no readable times, a user is as old as our knowledge of it, by the clock of the database.
ALTER TABLE "users"
  ALTER COLUMN "created_at" SET DEFAULT clock_timestamp(),
  ALTER COLUMN "updated_at" SET DEFAULT clock_timestamp();
