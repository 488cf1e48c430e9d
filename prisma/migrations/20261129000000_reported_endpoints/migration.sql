-- So that the log says once, whatever worker tries, that an endpoint fails and that it works again.
ALTER TABLE "webhook_endpoints" ADD COLUMN "is_reported" BOOLEAN NOT NULL DEFAULT false;

COMMENT ON COLUMN webhook_endpoints.is_reported IS 'Whether the log says that it fails. False again once an attempt succeeds.';
