-- Responses to requests with an Idempotency-Key (docs/api.md). The id is a hash, since callers choose keys freely and a key may name a
-- person. The body is encrypted with the response: it may contain secrets of receivers of webhooks, which a hash would let one guess.

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "id" TEXT NOT NULL,
    "response_ciphertext" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_id_is_sha256" CHECK ("id" ~ '^[A-Za-z0-9_-]{43}$');

COMMENT ON TABLE idempotency_keys IS
  'Responses to requests with an Idempotency-Key, to be sent again if the request is repeated. Each is inserted together with what the request created, and deleted after 24 hours.';
COMMENT ON COLUMN idempotency_keys.id IS 'SHA-256 of API key id, method, route and Idempotency-Key together, as base64url.';
COMMENT ON COLUMN idempotency_keys.response_ciphertext IS 'The bodies of the request and of its response, as JSON {"request", "response"}, encrypted and bound to this row.';
COMMENT ON COLUMN idempotency_keys.created_at IS 'When the request was executed.';
COMMENT ON COLUMN api_keys.key_hash IS 'SHA-256 of the key. The key itself was shown once, and is stored nowhere else than, encrypted, in the response to a request with an Idempotency-Key.';
