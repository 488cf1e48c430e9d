-- Only the process that publishes knows the settings of the broker, and /status of every replica shows the warnings about them.
ALTER TABLE "broker_positions" ADD COLUMN "warnings" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "broker_positions" ADD CONSTRAINT "broker_positions_warnings_is_a_list" CHECK ("warnings" IS NOT NULL);
COMMENT ON COLUMN broker_positions.warnings IS 'Settings of the broker by which it may lose events, found when a process last connected to it. Empty when there are none.';
