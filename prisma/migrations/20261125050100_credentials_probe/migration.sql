-- A person may have a token requested before the time of the next attempt. The time bounds how often, for all replicas together.
ALTER TABLE "remote_tokens" ADD COLUMN "probed_at" TIMESTAMPTZ(3);
COMMENT ON COLUMN remote_tokens.probed_at IS 'When a person last had a token requested before next_attempt_at. Null when never.';
