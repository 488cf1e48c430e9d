-- Each secret that was rotated ends at the time that was told of it, so they are stored with their ends (docs/webhooks.md). Only the
-- service can open what was stored before: there, one end counts for all of them, and it reads that too.
COMMENT ON COLUMN webhook_endpoints.previous_secret_ciphertext IS 'The secrets before, newest first, as a JSON list of {"secret", "until"}, encrypted and bound to this row; each signs too until its time. Null when there is none.';
COMMENT ON COLUMN webhook_endpoints.previous_secret_until IS 'Until when the last of the previous secrets signs too. Null when there is none.';
COMMENT ON COLUMN admin.webhook_endpoints.previous_secret_until IS 'Until when the last of the previous secrets signs too. Null when there is none.';
