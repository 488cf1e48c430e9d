-- An answer of the remote service may carry an id of somebody else here. Nothing of it is used, and it is told as drift
-- (docs/remote.md).

ALTER TABLE "remote_drift" DROP CONSTRAINT "remote_drift_kind_is_known";
ALTER TABLE "remote_drift" ADD CONSTRAINT "remote_drift_kind_is_known"
  CHECK ("kind" IN ('new_field', 'missing_field', 'other_type', 'undescribed_flags', 'token_form', 'foreign_id'));

COMMENT ON COLUMN remote_drift.kind IS 'new_field: a field that the interface does not describe. missing_field: one that it does, and that was not there. other_type: a field of another type or form. undescribed_flags: a combination of flags that the interface does not describe (session state unrecognised). token_form: expires_in or token_type in a form that it does not describe. foreign_id: an id or a reference of something else than what was asked for, such as of another user; nothing of that answer was used.';
COMMENT ON COLUMN remote_drift.found IS 'Type found first; of foreign_id what the id belongs to. Null where nothing was.';

COMMENT ON COLUMN session_starts.orphans IS
  'How many of the attempts had no readable answer, or one with the id of a session of something else: each may have left a session at the remote service that nobody knows the id of. It expires there unused.';
COMMENT ON COLUMN inverters.session_id IS 'The session that listed it. The same inverter may stand in sessions of several users, each with its own times.';

-- A column of a view means what the column of the table means that it shows.
DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN
    SELECT origin.view, shows.attname AS name, col_description(held.attrelid, held.attnum) AS meaning
      FROM (VALUES ('contract_drift', 'remote_drift', ARRAY['kind', 'found']),
                   ('session_starts', 'session_starts', ARRAY['orphans']),
                   ('inverters', 'inverters', ARRAY['session_id'])) AS origin (view, "table", columns)
      JOIN pg_attribute shows ON shows.attrelid = format('admin.%I', origin.view)::regclass AND shows.attname = ANY (origin.columns)
      JOIN pg_attribute held ON held.attrelid = format('public.%I', origin."table")::regclass AND held.attname = shows.attname
  LOOP
    EXECUTE format('COMMENT ON COLUMN admin.%I.%I IS %L', shown.view, shown.name, shown.meaning);
  END LOOP;
END $$;
