CREATE OR REPLACE VIEW admin.api_keys AS
SELECT k.id AS key_id, k.name, k.scopes, k.created_at, k.created_by, k.last_used_at, k.revoked_at,
       k.refused_401, k.refused_403, k.refused_429, k.last_refused_at
  FROM public.api_keys k;
COMMENT ON VIEW admin.api_keys IS 'Keys of the tenant''s own apps, except ADMIN_API_KEY, one row each, without the keys.';
COMMENT ON COLUMN admin.api_keys.key_id IS 'Id of the key, not the key.';
