CREATE OR REPLACE VIEW admin.audit_log AS
SELECT a.id AS entry_id, a.at, a.actor, k.name AS key_name, a.action, a.target, a.details, a.request_id
  FROM public.audit_log a
  LEFT JOIN public.api_keys k ON k.id = substring(a.actor FROM '^(?:console:)?key:([0-9a-f-]{36})$')::uuid;
COMMENT ON VIEW admin.audit_log IS 'Who did what: keys created and revoked, decisions about registrations, and the like, one row each.';
COMMENT ON COLUMN admin.audit_log.entry_id IS 'Order of recording.';
COMMENT ON COLUMN admin.audit_log.key_name IS 'Name of the key that acted, with a request or in the console. Null for ADMIN_API_KEY, and for what acts without a key.';
