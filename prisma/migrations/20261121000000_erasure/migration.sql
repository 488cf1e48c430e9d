-- Erasing a user (docs/erasure.md). What is personal goes, in every table, in one transaction. What stays is the history that
-- counts: that there was a user, how many sessions it had, which states they entered and when.

-- The row of an erased user stays, emptied: sessions and transitions refer to it, and it is what answers that there is nobody any
-- more, also to a request that was on its way. The reference becomes null and not '', since it is unique and may be given anew.
ALTER TABLE "users" ADD COLUMN "erased_at" TIMESTAMPTZ(3);
ALTER TABLE "users" ALTER COLUMN "tenant_reference" DROP NOT NULL;
-- A tombstone that still holds something is the fault that matters here, so the table refuses it.
ALTER TABLE "users" ADD CONSTRAINT "users_erased_is_empty"
  CHECK (CASE WHEN "erased_at" IS NULL THEN "tenant_reference" IS NOT NULL
    ELSE "tenant_reference" IS NULL AND "tenant_name" = '' AND "first_name" = '' AND "last_name" = '' AND "email" = ''
      AND "metadata" = '{}' END);

-- Null for the locations of an erased user. That no other is null lies beyond a CHECK, which sees one row only.
ALTER TABLE "grid_locations" ALTER COLUMN "ean" DROP NOT NULL;

-- startUrl is covered already: no closed session has one.
ALTER TABLE "onboarding_sessions" ADD CONSTRAINT "onboarding_sessions_erased_is_empty"
  CHECK ("close_reason" IS DISTINCT FROM 'erased' OR "metadata" = '{}');

-- CreateTable
CREATE TABLE "erasures" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "user_id" UUID,
    "erased_at" TIMESTAMPTZ(3) NOT NULL,
    "grid_locations" INTEGER NOT NULL,
    "registrations" INTEGER NOT NULL,
    "sessions" INTEGER NOT NULL,
    "observations" INTEGER NOT NULL,
    "inverters" INTEGER NOT NULL,
    "events" INTEGER NOT NULL,

    CONSTRAINT "erasures_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "erasures_user_id_key" ON "erasures"("user_id");

-- AddForeignKey
ALTER TABLE "erasures" ADD CONSTRAINT "erasures_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;


COMMENT ON TABLE erasures IS 'Receipts: what was erased of whom, in numbers. Holds nothing by which a person could be found but the id that the remote service gave. Who asked stands in audit_log.';
COMMENT ON COLUMN erasures.id IS 'Our id of the erasure.';
COMMENT ON COLUMN erasures.user_id IS 'The erased user. Null where there were only registrations that had not become one.';
COMMENT ON COLUMN erasures.erased_at IS 'When.';
COMMENT ON COLUMN erasures.grid_locations IS 'How many grid locations lost their EAN.';
COMMENT ON COLUMN erasures.registrations IS 'How many registrations were deleted, whatever their status.';
COMMENT ON COLUMN erasures.sessions IS 'How many sessions were emptied, and closed where they were still watched.';
COMMENT ON COLUMN erasures.observations IS 'How many answers of the remote service were deleted.';
COMMENT ON COLUMN erasures.inverters IS 'How many inverters of sessions were deleted.';
COMMENT ON COLUMN erasures.events IS 'How many events were emptied of what is personal.';

COMMENT ON TABLE users IS
  'Users as the remote service confirmed them, under its ids (interface 2.3, 4.2). A row means that the user exists there, or did when it was erased here. Written when a registration succeeds or a person resolves one, and by erasing. Holds personal data.';
COMMENT ON COLUMN users.tenant_reference IS 'The tenant''s own name for the user (customer number or the like), as sent and confirmed. One user per reference. Null once erased; the reference may then be registered anew.';
COMMENT ON COLUMN users.erased_at IS 'When the user was erased. Null while it is not; afterwards every other column that came from outside is empty, but for the id and the times.';
COMMENT ON TABLE grid_locations IS
  'Grid connections of users, under the ids of the remote service (interface 2.4). Written with their user, unchanged afterwards but for erasing.';
COMMENT ON COLUMN grid_locations.ean IS 'Grid connection identifier: 18 digits, as text, because an 18-digit JSON number loses digits in most readers. Null once its user has been erased.';
COMMENT ON TABLE registrations IS
  'What a tenant asked for: one row per wish to register a user, committed before the remote service is called. It has no call to look a user up and no idempotency key, so this row is all there is to tell what was sent. Deleted when its reference is erased.';
COMMENT ON COLUMN registrations.user_id IS 'The user it led to. Null until registered.';
COMMENT ON COLUMN onboarding_sessions.metadata IS 'JSON object of the tenant''s own, given at the start, copied into the events. May hold personal data. Empty once its user has been erased.';
COMMENT ON COLUMN onboarding_sessions.close_reason IS
  'settled: online, and SETTLE_HOURS are over. late_window_over: expired (or past expires_at), and LATE_ONLINE_DAYS are over. lost: gone at the remote service. erased: its user was, which takes the place of an earlier reason, so that whoever holds the row knows. Null while it is watched.';
COMMENT ON TABLE session_observations IS
  'Answers of the remote service about a session that differed from the one before, whole but for startUrl. Never changed: when a rule of the machine changes, history is judged anew from here. Deleted when the user is erased, since a field that nobody knows may hold anything.';
COMMENT ON COLUMN session_transitions.observation_id IS 'The answer that led here. Null when it was no new answer (for example the last of several 404s), and once the user has been erased.';
COMMENT ON TABLE inverters IS 'Inverters that a session has listed (interface 2.6). One inverter may stand in several sessions. No field but the id is specified. Deleted when the user is erased: the id leads to the production data of a household.';
COMMENT ON COLUMN domain_events.data IS 'The data of the CloudEvent. Includes the tenant''s metadata of the session. Once the user has been erased, reference, metadata and inverters are empty in all of its events.';
COMMENT ON TABLE audit_log IS 'What a person or a key with authority did: keys made and revoked, decisions on registrations, users erased, and the like. Only added to, but for the request ids of erased users.';
COMMENT ON COLUMN audit_log.request_id IS 'X-Request-Id of the request, as in the log. Null when it was no request, and once the user it was about has been erased: callers choose it, so it may name somebody.';


-- array_agg would show an erased user as the owner of one unknown EAN for each location. The new column comes last, since a view
-- can only be extended at its end.
CREATE OR REPLACE VIEW admin.users AS
SELECT u.id AS user_id,
       u.tenant_reference,
       u.tenant_name,
       u.first_name,
       u.last_name,
       u.email,
       u.metadata,
       (SELECT array_agg(g.ean ORDER BY g.ean) FILTER (WHERE g.ean IS NOT NULL)
          FROM public.grid_locations g WHERE g.user_id = u.id) AS eans,
       (SELECT count(*) FROM public.onboarding_sessions s WHERE s.user_id = u.id) AS sessions,
       u.created_at,
       u.updated_at,
       u.registered_at,
       u.erased_at
  FROM public.users u;
COMMENT ON VIEW admin.users IS 'Users that the remote service has confirmed, one row each, the erased ones with them. The only view with personal data besides EAN and tenant reference.';
COMMENT ON COLUMN admin.users.eans IS 'EANs of the user''s grid locations. Null once erased.';

CREATE VIEW admin.erasures AS
SELECT e.id AS erasure_id,
       e.user_id,
       e.erased_at,
       e.grid_locations,
       e.registrations,
       e.sessions,
       e.observations,
       e.inverters,
       e.events
  FROM public.erasures e;
COMMENT ON VIEW admin.erasures IS 'Receipts of what was erased, one row each, in numbers. Who asked stands in admin.audit_log under the user_id, or the erasure_id where there is none.';
COMMENT ON COLUMN admin.erasures.erasure_id IS 'Our id of the erasure.';

-- A column of a view means what the column of the table means that it shows, so it follows where that has been said anew.
DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN
    SELECT origin.view, shows.attname AS name, col_description(held.attrelid, held.attnum) AS meaning
      FROM (VALUES
             ('users', 'users', ARRAY['tenant_reference', 'erased_at']),
             ('registrations', 'registrations', ARRAY['user_id']),
             ('session_starts', 'users', ARRAY['tenant_reference']),
             ('session_starts', 'grid_locations', ARRAY['ean']),
             ('sessions', 'users', ARRAY['tenant_reference']),
             ('sessions', 'grid_locations', ARRAY['ean']),
             ('sessions', 'onboarding_sessions', ARRAY['close_reason']),
             ('session_transitions', 'users', ARRAY['tenant_reference']),
             ('session_transitions', 'session_transitions', ARRAY['observation_id']),
             ('inverters', 'users', ARRAY['tenant_reference']),
             ('inverters', 'grid_locations', ARRAY['ean']),
             ('audit_log', 'audit_log', ARRAY['request_id']),
             ('erasures', 'erasures', ARRAY['user_id', 'erased_at', 'grid_locations', 'registrations', 'sessions', 'observations',
                                            'inverters', 'events'])
           ) AS origin (view, "table", names)
      JOIN pg_attribute shows ON shows.attrelid = format('admin.%I', origin.view)::regclass AND shows.attname = ANY (origin.names)
      JOIN pg_attribute held ON held.attrelid = format('public.%I', origin."table")::regclass AND held.attname = shows.attname
  LOOP
    EXECUTE format('COMMENT ON COLUMN admin.%I.%I IS %L', shown.view, shown.name, shown.meaning);
  END LOOP;
END $$;
