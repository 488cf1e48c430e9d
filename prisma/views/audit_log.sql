CREATE OR REPLACE VIEW admin.audit_log AS
SELECT a.id AS entry_id, a.at, a.actor, k.name AS key_name, a.action, a.target, a.details, a.request_id
  FROM public.audit_log a
  LEFT JOIN public.api_keys k ON a.actor = 'key:' || k.id;
COMMENT ON VIEW admin.audit_log IS 'Who did what: keys made and revoked, decisions on registrations, and the like, one row each.';
COMMENT ON COLUMN admin.audit_log.entry_id IS 'Order of recording.';
COMMENT ON COLUMN admin.audit_log.key_name IS 'Name of the key that acted. Null for the administrator key and for what acts without a key.';
