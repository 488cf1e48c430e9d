-- How often requests with a key were refused. Each replica adds its counts every few seconds.
ALTER TABLE "api_keys"
  ADD COLUMN "refused_401" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "refused_403" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "refused_429" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "last_refused_at" TIMESTAMPTZ(3);

COMMENT ON COLUMN api_keys.refused_401 IS 'Requests with it that were refused with 401, since it was revoked.';
COMMENT ON COLUMN api_keys.refused_403 IS 'Requests with it that were refused with 403: it lacks a scope.';
COMMENT ON COLUMN api_keys.refused_429 IS 'Requests with it that were refused with 429: there were too many.';
COMMENT ON COLUMN api_keys.last_refused_at IS 'Last refused request, accurate to some seconds. Null: none.';

CREATE OR REPLACE VIEW admin.api_keys AS
SELECT k.id AS key_id, k.name, k.scopes, k.created_at, k.created_by, k.last_used_at, k.revoked_at,
       k.refused_401, k.refused_403, k.refused_429, k.last_refused_at
  FROM public.api_keys k;
COMMENT ON COLUMN admin.api_keys.refused_401 IS 'Requests with it that were refused with 401, since it was revoked.';
COMMENT ON COLUMN admin.api_keys.refused_403 IS 'Requests with it that were refused with 403: it lacks a scope.';
COMMENT ON COLUMN admin.api_keys.refused_429 IS 'Requests with it that were refused with 429: there were too many.';
COMMENT ON COLUMN admin.api_keys.last_refused_at IS 'Last refused request, accurate to some seconds. Null: none.';
