-- What the replicas tell each other about the remote service (docs/remote.md).

-- CreateTable
CREATE TABLE "remote_operations" (
    "operation" TEXT NOT NULL,
    "quiet_until" TIMESTAMPTZ(3),
    "health" TEXT NOT NULL DEFAULT 'healthy',
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "reason" TEXT,
    "trouble_until" TIMESTAMPTZ(3),

    CONSTRAINT "remote_operations_pkey" PRIMARY KEY ("operation")
);

-- CreateTable
CREATE TABLE "remote_replicas" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "counted" INTEGER NOT NULL,
    "joined_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "remote_replicas_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "remote_drift" (
    "operation" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "field" TEXT NOT NULL,
    "expected" TEXT,
    "found" TEXT,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "remote_drift_pkey" PRIMARY KEY ("operation","kind","field")
);


ALTER TABLE "remote_operations" ADD CONSTRAINT "remote_operations_operation_is_known"
  CHECK ("operation" IN ('token', 'register_user', 'start_session', 'read_session'));
-- Credentials are one thing for all operations; their trouble stands with the token.
ALTER TABLE "remote_operations" ADD CONSTRAINT "remote_operations_health_is_known"
  CHECK ("health" IN ('healthy', 'degraded') OR ("health" = 'credentials_rejected' AND "operation" = 'token'));
ALTER TABLE "remote_operations" ADD CONSTRAINT "remote_operations_trouble_has_reason"
  CHECK (("health" = 'healthy') = ("reason" IS NULL) AND ("trouble_until" IS NULL OR "health" = 'degraded'));
ALTER TABLE "remote_drift" ADD CONSTRAINT "remote_drift_operation_is_known"
  CHECK ("operation" IN ('token', 'register_user', 'start_session', 'read_session'));
ALTER TABLE "remote_drift" ADD CONSTRAINT "remote_drift_kind_is_known"
  CHECK ("kind" IN ('new_field', 'missing_field', 'other_type', 'undescribed_flags', 'token_form'));

-- There are as many rows as operations, always: whoever moves one finds it.
INSERT INTO "remote_operations" ("operation") VALUES ('token'), ('register_user'), ('start_session'), ('read_session');


COMMENT ON TABLE remote_operations IS 'What all replicas together know of each class of remote operations, one row each. Written when something changes: by whoever is asked to wait, finds the service in trouble, or sees it recover. Every replica reads it a few times a second.';
COMMENT ON COLUMN remote_operations.operation IS 'token, register_user, start_session or read_session.';
COMMENT ON COLUMN remote_operations.quiet_until IS 'The service has asked (Retry-After of a 429 or 503) to be left alone by this operation until then; no replica sends it. At most an hour after the answer that asked. In the past, or null, it says nothing.';
COMMENT ON COLUMN remote_operations.health IS 'healthy: nothing is known to be wrong. degraded: a replica has stopped calling after failures, or was asked to wait for a minute or longer. credentials_rejected: the service refuses the credentials or fresh tokens (operation token only). Announced as remote.recovered, remote.degraded, remote.credentials_rejected, each once.';
COMMENT ON COLUMN remote_operations.since IS 'When health became what it is.';
COMMENT ON COLUMN remote_operations.reason IS 'What went wrong, redacted. Null while healthy.';
COMMENT ON COLUMN remote_operations.trouble_until IS 'While degraded: a call that succeeds before this time proves nothing, since another replica had trouble a moment ago. Moved on by each report of trouble.';

COMMENT ON TABLE remote_replicas IS 'Replicas that share SCS_MAX_REQUESTS_PER_SECOND, one row each, written by each about itself while there is such a ceiling. A row whose time has run out is a replica that died; the next heartbeat of another deletes it.';
COMMENT ON COLUMN remote_replicas.id IS 'Drawn anew at every start of a process.';
COMMENT ON COLUMN remote_replicas.name IS 'Host and process id, for people.';
COMMENT ON COLUMN remote_replicas.counted IS 'How many live replicas it counted last, itself among them: it sends at most the ceiling divided by this.';
COMMENT ON COLUMN remote_replicas.joined_at IS 'When it was first heard of.';
COMMENT ON COLUMN remote_replicas.expires_at IS 'Until then it counts as live, by the clock of the database.';

COMMENT ON TABLE remote_drift IS 'Where answers of the remote service differ from its interface description, one row for each difference, whatever number of answers has it. Names and types only, never a value. A row may be deleted once it is understood; the difference is then announced again when it is next seen.';
COMMENT ON COLUMN remote_drift.operation IS 'The operation whose answer differs.';
COMMENT ON COLUMN remote_drift.kind IS 'new_field: a field that the interface does not describe. missing_field: one that it does, and that was not there. other_type: a field of another type or form. undescribed_flags: a combination of flags that the interface does not describe (session state unrecognised). token_form: expires_in or token_type in a form that it does not describe.';
COMMENT ON COLUMN remote_drift.field IS 'Path of the field, such as inverters[].id; for undescribed_flags the flags. * stands for a name that might be data.';
COMMENT ON COLUMN remote_drift.expected IS 'Type by the interface description. Null for what it does not describe.';
COMMENT ON COLUMN remote_drift.found IS 'Type found first. Null where nothing was.';
COMMENT ON COLUMN remote_drift.first_seen_at IS 'When it was seen first, and announced as remote.contract_drift.';
COMMENT ON COLUMN remote_drift.last_seen_at IS 'When it was seen last, to within an hour. Answers that did not change are not looked at again.';


CREATE VIEW admin.remote_health AS
SELECT o.operation,
       o.health,
       o.since,
       o.reason,
       CASE WHEN o.quiet_until > now() THEN o.quiet_until END AS quiet_until
  FROM public.remote_operations o;
COMMENT ON VIEW admin.remote_health IS 'How all replicas together find the remote service, one row for each class of operations.';
COMMENT ON COLUMN admin.remote_health.quiet_until IS 'Until when the service has asked to be left alone by this operation. Null when it has not, or the time is over.';

CREATE VIEW admin.contract_drift AS
SELECT d.operation, d.kind, d.field, d.expected, d.found, d.first_seen_at, d.last_seen_at
  FROM public.remote_drift d;
COMMENT ON VIEW admin.contract_drift IS 'Where answers of the remote service differ from its interface description, one row for each difference. Names and types only.';

-- A column of a view means what the column of the table means that it shows.
DO $$
DECLARE
  shown record;
BEGIN
  FOR shown IN
    SELECT origin.view, shows.attname AS name, col_description(held.attrelid, held.attnum) AS meaning
      FROM (VALUES ('remote_health', 'remote_operations'), ('contract_drift', 'remote_drift')) AS origin (view, "table")
      JOIN pg_attribute shows ON shows.attrelid = format('admin.%I', origin.view)::regclass
      JOIN pg_attribute held ON held.attrelid = format('public.%I', origin."table")::regclass AND held.attname = shows.attname
     WHERE held.attnum > 0 AND col_description(shows.attrelid, shows.attnum) IS NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN admin.%I.%I IS %L', shown.view, shown.name, shown.meaning);
  END LOOP;
END $$;

-- Default privileges give both views to the reader, where the role was there when they were granted. Granted by name too, for the
-- server on which it was made by hand since.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pv_onboarding_reader')
     AND has_schema_privilege('pv_onboarding_reader', 'admin', 'USAGE') THEN
    GRANT SELECT ON admin.remote_health, admin.contract_drift TO pv_onboarding_reader;
  END IF;
END $$;
