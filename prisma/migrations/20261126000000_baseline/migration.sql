-- The schema of the first release: tables, constraints, indexes, functions and the meaning of every column. The views of the schema admin
-- are in prisma/views. "Interface" is the description of the Solar Curtailment Service (SCS), "the remote service" the SCS itself.
-- Times are by the clock of the database unless a comment says otherwise.

CREATE SCHEMA admin;
COMMENT ON SCHEMA admin IS 'Read-only views for administrators (role pv_onboarding_reader). Their names and columns are a contract; the tables of public are not.';

-- References that people take for the same: those that differ in case, in the width of letters, in kinds of blanks, hyphens and quotes, or in
-- letters of Latin, Greek and Cyrillic that look the same, or numbers in the zeros before them, which spreadsheets drop. A new reference with
-- the same text gets a warning.
CREATE FUNCTION reference_fold(reference text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN regexp_replace(lower(regexp_replace(translate(normalize(reference, NFKC),
    'АВЕКМНОРСТХУІЈЅавекмнорстхуіјѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυχ‐‒–—−‘’‛`´',
    'ABEKMHOPCTXYIJSabekmhopctxyijsABEZHIKMNOPTYXavopux-----'''''''''''), '\s+', ' ', 'g')), '^0+(\d+)$', '\1');
COMMENT ON FUNCTION reference_fold(text) IS 'The text by which references that look the same are found. Unlike the reference itself, nobody sees it.';

CREATE TABLE users (
  id uuid PRIMARY KEY,
  tenant_reference text,
  tenant_name text NOT NULL,
  first_name text NOT NULL,
  last_name text NOT NULL,
  email text NOT NULL,
  metadata jsonb NOT NULL,
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  registered_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  erased_at timestamptz(3),
  -- The row of an erased user stays, emptied: sessions and transitions refer to it. Its reference is null and not '', since the tenant may
  -- register the reference again.
  CONSTRAINT users_erased_is_empty CHECK (CASE WHEN erased_at IS NULL THEN tenant_reference IS NOT NULL
    ELSE tenant_reference IS NULL AND tenant_name = '' AND first_name = '' AND last_name = '' AND email = ''
    AND metadata = '{}' END),
  CONSTRAINT users_reference_is_normal CHECK (tenant_reference IS NFC NORMALIZED AND tenant_reference !~ '^[\s'']|\s$'),
  -- The API formats times of the years 1 to 9999 only (src/platform/time/instant.rules.ts).
  CONSTRAINT users_times_exist CHECK (
    least(created_at, updated_at) >= '0001-01-01 00:00:00+00'
    AND greatest(created_at, updated_at) <= '9999-12-31 23:59:59.999+00')
);
-- Lists of users filter by metadata. jsonb_path_ops, because the one operator used is containment: its entries are hashes of whole paths,
-- so the index is smaller and more selective than one of keys and values. Without fastupdate, since every search would read all pending
-- entries: 20 ms instead of 0.2 ms after many insertions.
CREATE INDEX users_metadata_idx ON users USING GIN (metadata jsonb_path_ops) WITH (fastupdate = off);
CREATE INDEX users_registered_at_id_idx ON users(registered_at, id);
-- For POST /search: prefixes in any case, whatever the collation, and whole words of metadata.
CREATE INDEX users_reference_prefix_idx ON users (lower(tenant_reference) text_pattern_ops);
CREATE INDEX users_metadata_words_idx ON users USING GIN (jsonb_to_tsvector('simple', metadata, '["string", "numeric"]')) WITH (fastupdate = off);
CREATE UNIQUE INDEX users_tenant_reference_key ON users(tenant_reference);
COMMENT ON TABLE users IS 'Users as the remote service confirmed them, under its ids (interface 2.3, 4.2). Inserted when a registration succeeds or a person resolves one, emptied by an erasure. Holds personal data.';
COMMENT ON COLUMN users.id IS 'User id given by the remote service; the same in both systems.';
COMMENT ON COLUMN users.tenant_reference IS 'The tenant''s own name for the user (customer number or the like), as sent and confirmed. One user per reference. Null once the user has been erased: then the reference may be registered again.';
COMMENT ON COLUMN users.tenant_name IS 'Name of the tenant that owns the user, as returned by the remote service.';
COMMENT ON COLUMN users.first_name IS 'As returned by the remote service; empty in the interface''s sample. Personal data.';
COMMENT ON COLUMN users.last_name IS 'As returned by the remote service; empty in the interface''s sample. Personal data.';
COMMENT ON COLUMN users.email IS 'As returned by the remote service; empty in the interface''s sample. Personal data.';
COMMENT ON COLUMN users.metadata IS 'The tenant''s own JSON object, given at registration, never sent to the remote service. May hold personal data.';
COMMENT ON COLUMN users.created_at IS 'createdAt of the remote service, by its clock; registered_at if it returned no time of the years 1 to 9999.';
COMMENT ON COLUMN users.updated_at IS 'updatedAt of the remote service at registration, by its clock; created_at if it returned no time of the years 1 to 9999. The interface has no call to read a user again.';
COMMENT ON COLUMN users.registered_at IS 'When we recorded the confirmed user.';
COMMENT ON COLUMN users.erased_at IS 'When the user was erased. Afterwards, only the id and the times are left. Null: not erased.';

CREATE TABLE grid_locations (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ean text,
  -- An EAN is text from the first byte to the last; 18 digits, and none of them lost.
  CONSTRAINT grid_locations_ean_is_18_digits CHECK (ean ~ '^[0-9]{18}$')
);
CREATE INDEX grid_locations_ean_idx ON grid_locations(ean);
CREATE UNIQUE INDEX grid_locations_user_id_ean_key ON grid_locations(user_id, ean);
COMMENT ON TABLE grid_locations IS 'Grid connections of users, under the ids of the remote service (interface 2.4). Inserted with their user; only an erasure changes them.';
COMMENT ON COLUMN grid_locations.id IS 'Grid location id given by the remote service; what a session is started for (interface 4.3).';
COMMENT ON COLUMN grid_locations.user_id IS 'The user it belongs to.';
COMMENT ON COLUMN grid_locations.ean IS 'Grid connection identifier: 18 digits, as text, because an 18-digit JSON number loses digits in most readers. Null once its user has been erased.';

CREATE TABLE registrations (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  tenant_reference text NOT NULL,
  eans text[],
  metadata jsonb NOT NULL,
  status text DEFAULT 'pending' NOT NULL,
  user_id uuid REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  attempts integer DEFAULT 0 NOT NULL,
  last_error text,
  next_attempt_at timestamptz(3),
  lease_token uuid,
  lease_until timestamptz(3),
  sent_at timestamptz(3),
  campaign_id uuid,
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  -- The length excludes a null, which array_to_string leaves out, and two EANs in one element.
  CONSTRAINT registrations_eans_are_18_digits CHECK (eans IS NOT NULL AND array_to_string(eans, ',') ~ '^[0-9]{18}(,[0-9]{18})*$'
    AND length(array_to_string(eans, ',')) = 19 * cardinality(eans) - 1),
  -- Only an intent that may still be sent can be leased or have a next attempt.
  CONSTRAINT registrations_lease_only_while_pending CHECK ((lease_token IS NULL) = (lease_until IS NULL)
    AND (status = 'pending' OR (lease_token IS NULL AND next_attempt_at IS NULL))),
  -- References that look the same are one customer, so only one form is stored (src/users/tenant-reference.rules.ts).
  CONSTRAINT registrations_reference_is_normal CHECK (tenant_reference IS NFC NORMALIZED AND tenant_reference !~ '^[\s'']|\s$'),
  CONSTRAINT registrations_status_is_known CHECK (status IN ('pending', 'registered', 'rejected', 'uncertain', 'discarded')),
  CONSTRAINT registrations_user_only_when_registered CHECK (user_id IS NULL OR status = 'registered')
);
CREATE INDEX registrations_created_at_id_idx ON registrations(created_at, id);
-- Lists customers of one campaign. Most customers come from none.
CREATE INDEX registrations_campaign_idx ON registrations (campaign_id, created_at, id) WHERE campaign_id IS NOT NULL;
-- Lists of registrations filter by an EAN, and each request looks for other references with its EANs. Without fastupdate, as for metadata.
CREATE INDEX registrations_eans_idx ON registrations USING GIN (eans) WITH (fastupdate = off);
-- Retention pages through the registrations that were rejected or discarded; almost all others become users.
CREATE INDEX registrations_ended_idx ON registrations (id) WHERE status IN ('rejected', 'discarded');
-- Lists of registrations filter by metadata; see the index of users for its options. A registration is updated a few times, and none of
-- these updates was HOT, since its status and its next attempt are indexed.
CREATE INDEX registrations_metadata_idx ON registrations USING GIN (metadata jsonb_path_ops) WITH (fastupdate = off);
-- One registration per tenantReference, whatever the concurrency. A rejected or discarded registration had no effect, or a person said so:
-- the tenant may register the reference again.
CREATE UNIQUE INDEX registrations_one_per_reference ON registrations (tenant_reference) WHERE status IN ('pending', 'registered', 'uncertain');
-- A person looks for open registrations, which are few among all.
CREATE INDEX registrations_open ON registrations (created_at, id) WHERE status IN ('pending', 'uncertain');
-- A person looks for the text of an error. Most registrations never had one.
CREATE INDEX registrations_with_error ON registrations (created_at, id) WHERE last_error IS NOT NULL;
-- The status counts those of the last day; the history of rejections may be long.
CREATE INDEX registrations_rejected ON registrations (updated_at) WHERE status = 'rejected';
-- The sweep for work to do and for senders that died reads only the few that are pending.
CREATE INDEX registrations_pending ON registrations (next_attempt_at) WHERE status = 'pending';
CREATE INDEX registrations_reference_prefix_idx ON registrations (lower(tenant_reference) text_pattern_ops)
  WHERE status IN ('pending', 'uncertain', 'rejected');
CREATE INDEX registrations_tenant_reference_idx ON registrations(tenant_reference);
-- Each request looks for other live references that look like its own.
CREATE INDEX registrations_reference_fold_idx ON registrations (reference_fold(tenant_reference)) WHERE status IN ('pending', 'registered', 'uncertain');
CREATE INDEX registrations_user_id_idx ON registrations(user_id);
COMMENT ON TABLE registrations IS 'What a tenant requested: one intent per row to register a user, committed before the remote call. The remote service has no call to look a user up and no idempotency key, so only this row tells what was sent. Deleted when its reference is erased.';
COMMENT ON COLUMN registrations.id IS 'Our id, the one in /registrations/{id}.';
COMMENT ON COLUMN registrations.tenant_reference IS 'The tenant''s own name for the requested user. At most one pending, registered or uncertain registration per reference.';
COMMENT ON COLUMN registrations.eans IS 'EANs of the grid locations to register, 18 digits each, in the order of the request.';
COMMENT ON COLUMN registrations.metadata IS 'The tenant''s own JSON object, copied to the user once registered. May hold personal data.';
COMMENT ON COLUMN registrations.status IS 'pending: not sent yet, or refused without effect; sent again automatically at next_attempt_at. registered: confirmed by the remote service or a person. rejected: refused by the remote service (4xx), no effect. uncertain: sent, and its response was lost or unclear; never sent again automatically, a person decides. discarded: given up by a person.';
COMMENT ON COLUMN registrations.user_id IS 'The user that it became. Null unless registered.';
COMMENT ON COLUMN registrations.attempts IS 'How many calls were begun for it. The number of a call identifies its response if that comes late.';
COMMENT ON COLUMN registrations.last_error IS 'Why the last call did not succeed, without secrets; may quote the remote service. Null if none has failed.';
COMMENT ON COLUMN registrations.next_attempt_at IS 'When a pending registration is sent next. Null while it is being sent, and in every other status.';
COMMENT ON COLUMN registrations.lease_token IS 'Random id of the call in flight. Null if there is none.';
COMMENT ON COLUMN registrations.lease_until IS 'Until when the lease of the call in flight is valid; its sender renews it. After that a worker makes the registration uncertain. Null if no call is in flight.';
COMMENT ON COLUMN registrations.sent_at IS 'When the last call was begun. Null if it certainly was not sent, and after a person''s retry.';
COMMENT ON COLUMN registrations.campaign_id IS 'The campaign that requested it, whose registrations are sent after all others. Null: POST /users requested it. No foreign key, because it only orders the sending.';
COMMENT ON COLUMN registrations.created_at IS 'When it was requested.';
COMMENT ON COLUMN registrations.updated_at IS 'When anything in this row changed last.';

CREATE TABLE onboarding_sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  grid_location_id uuid NOT NULL REFERENCES grid_locations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  brand text,
  metadata jsonb NOT NULL,
  state text NOT NULL,
  basis text NOT NULL,
  rule text NOT NULL,
  finished boolean NOT NULL,
  active boolean NOT NULL,
  expired boolean,
  start_url_ciphertext bytea,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  started_updated_at timestamptz(3) NOT NULL,
  state_changed_at timestamptz(3) NOT NULL,
  recorded_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  changed_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  superseded_at timestamptz(3),
  last_checked_at timestamptz(3) NOT NULL,
  closed_at timestamptz(3),
  close_reason text,
  CONSTRAINT onboarding_sessions_basis_follows_state CHECK (basis = CASE WHEN state = 'awaiting_installation' THEN 'inferred' ELSE 'observed' END),
  CONSTRAINT onboarding_sessions_close_has_reason CHECK ((closed_at IS NULL) = (close_reason IS NULL)
    AND (close_reason IS NULL OR close_reason IN ('settled', 'late_window_over', 'lost', 'erased'))),
  CONSTRAINT onboarding_sessions_erased_is_empty CHECK (close_reason IS DISTINCT FROM 'erased' OR metadata = '{}'),
  -- An unrecognised state keeps the startUrl: one odd response may hide an open flow.
  CONSTRAINT onboarding_sessions_start_url_only_while_open CHECK (start_url_ciphertext IS NULL OR (state NOT IN ('online', 'expired') AND closed_at IS NULL)),
  CONSTRAINT onboarding_sessions_state_is_known CHECK (state IN ('awaiting_owner', 'awaiting_installation', 'online', 'expired', 'lost', 'unrecognised')),
  CONSTRAINT onboarding_sessions_times_exist CHECK (
    least(created_at, updated_at, expires_at, started_updated_at) >= '0001-01-01 00:00:00+00'
    AND greatest(created_at, updated_at, expires_at, started_updated_at) <= '9999-12-31 23:59:59.999+00')
);
-- Lists find the sessions of a rare brand by it, and brand_outages the newest of each brand. Neither column ever changes.
CREATE INDEX onboarding_sessions_brand_recorded_at_idx ON onboarding_sessions(brand, recorded_at);
CREATE INDEX onboarding_sessions_created_at_idx ON onboarding_sessions(created_at);
CREATE INDEX onboarding_sessions_changed_at_id_idx ON onboarding_sessions(changed_at, id);
CREATE INDEX onboarding_sessions_grid_location_id_idx ON onboarding_sessions(grid_location_id);
-- Lists of sessions filter by metadata; see the index of users for its options. Polls do not write to this table, and its updates were
-- never HOT, since changed_at is indexed.
CREATE INDEX onboarding_sessions_metadata_idx ON onboarding_sessions USING GIN (metadata jsonb_path_ops) WITH (fastupdate = off);
-- One current session per location and brand; a newer one supersedes it in the same transaction.
CREATE UNIQUE INDEX onboarding_sessions_one_current ON onboarding_sessions (grid_location_id, brand) NULLS NOT DISTINCT WHERE superseded_at IS NULL;
CREATE INDEX onboarding_sessions_state_changed_at_id_idx ON onboarding_sessions(state, changed_at, id);
CREATE INDEX onboarding_sessions_user_id_idx ON onboarding_sessions(user_id);
COMMENT ON TABLE onboarding_sessions IS 'PV onboarding sessions as last observed (interface 2.5, 3). Written at the start and when a response changed something, never by a read without news: session_polls has the last read.';
COMMENT ON COLUMN onboarding_sessions.id IS 'sessionId given by the remote service; the same in both systems.';
COMMENT ON COLUMN onboarding_sessions.user_id IS 'The user whose grid location it is.';
COMMENT ON COLUMN onboarding_sessions.grid_location_id IS 'The grid location it was started for.';
COMMENT ON COLUMN onboarding_sessions.brand IS 'Inverter brand from the request to start; the remote service neither takes nor returns it. Null: none was given.';
COMMENT ON COLUMN onboarding_sessions.metadata IS 'The tenant''s own JSON object, given at the start, copied into the events. May hold personal data. Empty once the user has been erased.';
COMMENT ON COLUMN onboarding_sessions.state IS 'What the flags mean: awaiting_owner, awaiting_installation, online, expired, lost (404 or 410 repeatedly, on every path; watched for some hours more), unrecognised (flags that the interface does not describe, or more inverters than a session can have). An online session stays online; an expired or lost one may still come online.';
COMMENT ON COLUMN onboarding_sessions.basis IS 'observed: the remote service said so. inferred: we conclude it; only awaiting_installation is inferred, because no flag says that the owner has finished.';
COMMENT ON COLUMN onboarding_sessions.rule IS 'Name of the rule that decided the state (src/onboarding/rules/machine.rules.ts).';
COMMENT ON COLUMN onboarding_sessions.finished IS 'Flag of the last response with flags.';
COMMENT ON COLUMN onboarding_sessions.active IS 'Flag of the last response with flags.';
COMMENT ON COLUMN onboarding_sessions.expired IS 'Flag of the last response that had it. Null until the first read: the response to a start has no such field.';
COMMENT ON COLUMN onboarding_sessions.start_url_ciphertext IS 'startUrl, whose holder can act as the owner, encrypted with a key of ENCRYPTION_KEYS and bound to this row. Null once the session is online, expired or closed.';
COMMENT ON COLUMN onboarding_sessions.created_at IS 'createdAt of the remote service, by its clock. A time before the year 1 or after the year 9999 is stored as the first or the last instant between.';
COMMENT ON COLUMN onboarding_sessions.updated_at IS 'updatedAt of the last response, by the remote clock; within the years 1 to 9999, like created_at.';
COMMENT ON COLUMN onboarding_sessions.expires_at IS 'expiresAt of the last response, by the remote clock; within the years 1 to 9999, like created_at. The interface does not say what happens then.';
COMMENT ON COLUMN onboarding_sessions.started_updated_at IS 'updatedAt of the response to the start, by the remote clock; within the years 1 to 9999, like created_at. awaiting_installation is inferred from a different updated_at.';
COMMENT ON COLUMN onboarding_sessions.state_changed_at IS 'When the state was recorded. The remote service may have entered it up to one interval between reads earlier.';
COMMENT ON COLUMN onboarding_sessions.recorded_at IS 'When we recorded the started session.';
COMMENT ON COLUMN onboarding_sessions.changed_at IS 'When anything in this row changed last. updatedSince filters by it.';
COMMENT ON COLUMN onboarding_sessions.superseded_at IS 'When a newer session of the same location and brand took its place. It is still watched. Null while it is the current one.';
COMMENT ON COLUMN onboarding_sessions.last_checked_at IS 'When it was last read, as of the last change of this row. Exact for a closed session only; session_polls has the last read of the others.';
COMMENT ON COLUMN onboarding_sessions.closed_at IS 'When we stopped watching. Null while it is watched.';
COMMENT ON COLUMN onboarding_sessions.close_reason IS 'settled: online for SETTLE_HOURS. late_window_over: expired (or past expires_at) for LATE_ONLINE_DAYS. lost: gone at the remote service for hours. erased: its user was erased, which replaces an earlier reason. Null while it is watched.';

CREATE TABLE session_starts (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  grid_location_id uuid NOT NULL REFERENCES grid_locations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  brand text,
  status text DEFAULT 'sending' NOT NULL,
  attempts integer DEFAULT 1 NOT NULL,
  orphans integer DEFAULT 0 NOT NULL,
  session_id uuid REFERENCES onboarding_sessions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  last_error text,
  request text,
  lease_token uuid NOT NULL,
  lease_until timestamptz(3) NOT NULL,
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT session_starts_started_has_session CHECK ((status = 'started') = (session_id IS NOT NULL)),
  CONSTRAINT session_starts_status_is_known CHECK (status IN ('sending', 'started', 'failed'))
);
CREATE INDEX session_starts_created_at_id_idx ON session_starts (created_at, id);
-- Few starts fail: without this index, a list of failed starts would read most of the table.
CREATE INDEX session_starts_failed_created_at_id_idx ON session_starts (created_at, id) WHERE status = 'failed';
-- Retention deletes the oldest failed starts; almost no start fails.
CREATE INDEX session_starts_failed_idx ON session_starts (updated_at) WHERE status = 'failed' AND orphans = 0;
CREATE INDEX session_starts_grid_location_id_idx ON session_starts(grid_location_id);
-- One start in flight per location and brand: a double click waits for the first. No brand is a brand of its own.
CREATE UNIQUE INDEX session_starts_one_in_flight ON session_starts (grid_location_id, brand) NULLS NOT DISTINCT WHERE status = 'sending';
-- The status counts the orphans of the last 24 hours; almost no start has one.
CREATE INDEX session_starts_orphans_idx ON session_starts (updated_at) WHERE orphans > 0;
CREATE INDEX session_starts_session_id_idx ON session_starts(session_id);
COMMENT ON TABLE session_starts IS 'Requests to start a session: intents, committed before the remote call, so that a double click is one call and a lost response is counted.';
COMMENT ON COLUMN session_starts.id IS 'Our id of the request.';
COMMENT ON COLUMN session_starts.grid_location_id IS 'The grid location to start a session for.';
COMMENT ON COLUMN session_starts.brand IS 'Inverter brand from the request; never sent to the remote service. Null: none was given, which counts as a brand of its own.';
COMMENT ON COLUMN session_starts.status IS 'sending: its call is in flight, at most one per location and brand. started: it became session_id. failed: given up, see last_error.';
COMMENT ON COLUMN session_starts.attempts IS 'How often the start was sent to the remote service.';
COMMENT ON COLUMN session_starts.orphans IS 'How many of the attempts had no readable response, one with an id that belongs to something else, or one that could not be stored. Each may have left a session at the remote service whose id nobody knows; it expires there unused.';
COMMENT ON COLUMN session_starts.session_id IS 'The session that it became. Null unless started.';
COMMENT ON COLUMN session_starts.last_error IS 'Why the last attempt failed, without secrets. Null if none has failed.';
COMMENT ON COLUMN session_starts.request IS 'The hash of the caller, the location and the Idempotency-Key of the request: its repetition gets the same session. Null: none was sent.';
COMMENT ON COLUMN session_starts.lease_token IS 'Random id of the attempt in flight; a response is stored only under the same token.';
COMMENT ON COLUMN session_starts.lease_until IS 'Until when the lease of the attempt is valid; its sender renews it. After that, the next request for the same location and brand takes the attempt over, or a worker makes it failed.';
COMMENT ON COLUMN session_starts.created_at IS 'When it was requested.';
COMMENT ON COLUMN session_starts.updated_at IS 'When anything in this row changed last.';

CREATE TABLE invitations (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  grid_location_id uuid NOT NULL REFERENCES grid_locations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  campaign_id uuid,
  token_hash bytea NOT NULL,
  token_ciphertext bytea,
  brands text[],
  locale text,
  expected_inverters integer,
  metadata jsonb NOT NULL,
  return_url text,
  wish_brand text,
  wished_at timestamptz(3),
  wish_due_at timestamptz(3),
  wish_failed_at timestamptz(3),
  awaits text DEFAULT 'start' NOT NULL,
  awaits_since timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  opened_at timestamptz(3),
  started_at timestamptz(3),
  owner_done_at timestamptz(3),
  online_at timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  expired_at timestamptz(3),
  revoked_at timestamptz(3),
  erased_at timestamptz(3),
  declined_at timestamptz(3),
  decline_reason text,
  renewal_requested_at timestamptz(3),
  recovered_at timestamptz(3),
  disconnected_at timestamptz(3),
  code_hash bytea,
  code_expires_at timestamptz(3),
  reminders_sent smallint DEFAULT 0 NOT NULL,
  reminded_at timestamptz(3),
  -- An hour later, because no reminder is due earlier.
  reminder_due_at timestamptz(3) DEFAULT (clock_timestamp() + '1 hour'::interval),
  sent_at timestamptz(3),
  bounced_at timestamptz(3),
  bounced_channel text,
  CONSTRAINT invitations_steps_follow_each_other CHECK (
    (started_at IS NULL OR opened_at IS NOT NULL) AND (wish_due_at IS NULL OR opened_at IS NOT NULL)),
  CONSTRAINT invitations_awaits_is_known CHECK (awaits IN ('start', 'finish', 'installation')),
  CONSTRAINT invitations_brands_are_given CHECK (brands IS NOT NULL),
  CONSTRAINT invitations_end_once CHECK (num_nonnulls(expired_at, revoked_at, CASE WHEN disconnected_at IS NULL AND declined_at IS NULL THEN online_at END) <= 1),
  CONSTRAINT invitations_disconnect_after_online CHECK (disconnected_at IS NULL OR online_at IS NOT NULL),
  CONSTRAINT invitations_reminders_are_dated CHECK ((reminders_sent > 0) = (reminded_at IS NOT NULL) AND reminders_sent >= 0),
  CONSTRAINT invitations_bounces_have_a_channel CHECK (
    (bounced_at IS NULL) = (bounced_channel IS NULL) AND bounced_channel IN ('email', 'sms', 'letter', 'other')),
  CONSTRAINT invitations_declines_are_dated CHECK (
    (decline_reason IS NULL OR declined_at IS NOT NULL) AND decline_reason IN ('not_interested', 'not_mine', 'login_elsewhere')),
  CONSTRAINT invitations_codes_expire CHECK ((code_hash IS NULL) = (code_expires_at IS NULL)),
  CONSTRAINT invitations_token_is_hashed CHECK (octet_length(token_hash) = 32)
);
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations(token_hash);
-- One live invitation per location, whatever the concurrency. The condition is that of LIVE in src/invitations/invitations.sql.ts.
CREATE UNIQUE INDEX invitations_live_key ON invitations(grid_location_id)
  WHERE (online_at IS NULL OR disconnected_at IS NOT NULL) AND revoked_at IS NULL AND expired_at IS NULL AND erased_at IS NULL AND declined_at IS NULL;
CREATE INDEX invitations_grid_location_id_idx ON invitations(grid_location_id);
CREATE INDEX invitations_metadata_words_idx ON invitations
  USING GIN (jsonb_to_tsvector('simple', metadata, '["string", "numeric"]')) WITH (fastupdate = off);
-- Lists invitations of one campaign. Most come from none.
CREATE INDEX invitations_campaign_idx ON invitations (campaign_id, created_at, id) WHERE campaign_id IS NOT NULL;
CREATE INDEX invitations_created_at_id_idx ON invitations(created_at, id);
CREATE INDEX invitations_wishes ON invitations(wish_due_at) WHERE wish_due_at IS NOT NULL;
CREATE INDEX invitations_reminders ON invitations(reminder_due_at)
  WHERE (online_at IS NULL OR disconnected_at IS NOT NULL) AND revoked_at IS NULL AND expired_at IS NULL AND erased_at IS NULL AND declined_at IS NULL
    AND reminder_due_at IS NOT NULL;
CREATE INDEX invitations_expiring ON invitations(expires_at)
  WHERE (online_at IS NULL OR disconnected_at IS NOT NULL) AND revoked_at IS NULL AND expired_at IS NULL AND erased_at IS NULL AND declined_at IS NULL;
CREATE UNIQUE INDEX invitations_code_hash_key ON invitations(code_hash) WHERE code_hash IS NOT NULL;
CREATE INDEX invitations_renewals ON invitations(grid_location_id) WHERE renewal_requested_at IS NOT NULL;
-- The only definition of the states of invitations. PostgreSQL inlines it, since it is one stable expression: it uses now(), and no later clock.
-- Its body is a text, so that a later migration can retype the columns that it names.
CREATE FUNCTION invitation_state(i invitations) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN i.erased_at IS NOT NULL THEN 'erased'
              WHEN i.revoked_at IS NOT NULL THEN 'revoked'
              WHEN i.online_at IS NOT NULL AND i.disconnected_at IS NULL THEN 'online'
              WHEN i.declined_at IS NOT NULL THEN 'declined'
              WHEN i.expired_at IS NOT NULL
                OR i.expires_at <= now() AND (i.awaits = 'start' OR i.awaits = 'finish' AND i.started_at IS NULL) THEN 'expired'
              WHEN i.awaits = 'installation' THEN 'owner_done'
              WHEN i.started_at IS NOT NULL THEN 'started'
              WHEN i.opened_at IS NOT NULL THEN 'opened'
              ELSE 'invited' END $$;
COMMENT ON FUNCTION invitation_state(invitations) IS 'The state of an invitation. It is expired after its date, even before its expiry is recorded, unless its owner has begun.';
COMMENT ON TABLE invitations IS 'Links for the owners of grid locations, valid until the installation is online, or they are revoked or expire. Erasing the user clears the token, metadata, return_url, locale, expected_inverters and decline_reason. The rest stays: by the hash of the token, the link says that the data is gone, and the funnel counts brands, campaign and times.';
COMMENT ON COLUMN invitations.id IS 'Id of the invitation.';
COMMENT ON COLUMN invitations.grid_location_id IS 'The grid location whose owner is invited.';
COMMENT ON COLUMN invitations.campaign_id IS 'The campaign that created it. Null: it was created by POST /invitations.';
COMMENT ON COLUMN invitations.token_hash IS 'SHA-256 of the token in the link, by which the link is found.';
COMMENT ON COLUMN invitations.token_ciphertext IS 'The token, encrypted, so that the tenant can read the link again. Null once the user has been erased, and after a key was lost.';
COMMENT ON COLUMN invitations.brands IS 'The brands to connect, in the order in which the owner is asked. Empty: the remote service asks for the brand.';
COMMENT ON COLUMN invitations.locale IS 'The language of the owner''s page. Null: the language of the browser.';
COMMENT ON COLUMN invitations.expected_inverters IS 'How many inverters the tenant expects. Null: not known.';
COMMENT ON COLUMN invitations.metadata IS 'As passed by the tenant; empty once the user has been erased.';
COMMENT ON COLUMN invitations.return_url IS 'Where the page leads once the installation is online or the invitation is over. Null: nowhere.';
COMMENT ON COLUMN invitations.wish_brand IS 'The brand of the owner''s last click. Null: no click, or without a brand.';
COMMENT ON COLUMN invitations.wished_at IS 'When the owner clicked last. Null: never.';
COMMENT ON COLUMN invitations.wish_due_at IS 'When the start that the owner wished for is tried next. Null: there is no unfulfilled wish.';
COMMENT ON COLUMN invitations.wish_failed_at IS 'When the start that the owner wished for was refused, or given up after a day. Null: never, or the owner has clicked again.';
COMMENT ON COLUMN invitations.awaits IS 'What the invitation waits for, by the sessions of its brands. start: for the owner to begin with a brand. finish: for the owner to finish an open session. installation: each brand is online or awaits its installation, also after its session has expired, while it is watched.';
COMMENT ON COLUMN invitations.awaits_since IS 'Since when awaits has had this value.';
COMMENT ON COLUMN invitations.created_at IS 'When it was created.';
COMMENT ON COLUMN invitations.opened_at IS 'When a person first opened the page. Null: not yet.';
COMMENT ON COLUMN invitations.started_at IS 'When the owner''s wish first led to a session. Null: not yet.';
COMMENT ON COLUMN invitations.owner_done_at IS 'When each of the brands was first found to await its installation or to be online. Inferred: the remote service has no flag for it. Null: not yet.';
COMMENT ON COLUMN invitations.online_at IS 'When the location was first online with each of the brands. Null: not yet. Whether it still is: see disconnected_at.';
COMMENT ON COLUMN invitations.expires_at IS 'After this the owner can no longer begin.';
COMMENT ON COLUMN invitations.expired_at IS 'When its expiry was recorded and announced. Null: not yet, or it did not expire.';
COMMENT ON COLUMN invitations.revoked_at IS 'When the tenant revoked it. Null: never.';
COMMENT ON COLUMN invitations.erased_at IS 'When its user was erased. Null: never.';
COMMENT ON COLUMN invitations.declined_at IS 'When its owner declined it, or withdrew the consent. It may be revoked after that, also if it is online. Null: never, or the owner has taken that back.';
COMMENT ON COLUMN invitations.decline_reason IS 'Why: not_interested, not_mine (not the installation of the person with the link) or login_elsewhere (another person has the login). Null: not given.';
COMMENT ON COLUMN invitations.renewal_requested_at IS 'When the person with the link last asked for a new one, because it had expired or was replaced. Null: never, or it was prolonged.';
COMMENT ON COLUMN invitations.disconnected_at IS 'When all inverters of one of its sessions went missing after the location was online, so that the invitation was live again. Null: never, or the location is online again.';
COMMENT ON COLUMN invitations.recovered_at IS 'When a start for which the owner had to wait was last taken. Its owner is reminded of it once. Null: never.';
COMMENT ON COLUMN invitations.code_hash IS 'Keyed hash of the code that leads to the link once. Null: there is none, or it was used.';
COMMENT ON COLUMN invitations.code_expires_at IS 'From then on the code leads nowhere. Null: there is none.';
COMMENT ON COLUMN invitations.reminders_sent IS 'How many reminders were announced.';
COMMENT ON COLUMN invitations.reminded_at IS 'When the last reminder was announced. Null: never.';
COMMENT ON COLUMN invitations.reminder_due_at IS 'When to decide next whether a reminder is due, while the invitation is live. Null: there will be no further reminder.';
COMMENT ON COLUMN invitations.sent_at IS 'When the tenant last sent the link, as its mailer has said. Null: it has not said so.';
COMMENT ON COLUMN invitations.bounced_at IS 'When a message with the link last came back. It counts until a later message is sent. Null: never.';
COMMENT ON COLUMN invitations.bounced_channel IS 'How that message was sent: email, sms, letter or other. Null: none came back.';

CREATE TABLE consent_texts (
  hash text PRIMARY KEY,
  version text NOT NULL,
  locale text NOT NULL,
  text text NOT NULL
);
COMMENT ON TABLE consent_texts IS 'The texts above the button of the owner''s page to which an owner has agreed. They are the same for all owners, and no erasure removes them.';
COMMENT ON COLUMN consent_texts.hash IS 'SHA-256 of language and text, in hex.';
COMMENT ON COLUMN consent_texts.version IS 'The version of the text, as in BRAND_TEXTS_FILE, or that of the text of this service.';
COMMENT ON COLUMN consent_texts.locale IS 'The language of the text.';
COMMENT ON COLUMN consent_texts.text IS 'The text, as it was shown.';

CREATE TABLE consents (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  invitation_id uuid NOT NULL REFERENCES invitations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  text_hash text NOT NULL REFERENCES consent_texts(hash) ON UPDATE CASCADE ON DELETE RESTRICT,
  brand text,
  given_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  withdrawn_at timestamptz(3)
);
CREATE INDEX consents_invitation_id_idx ON consents(invitation_id);
COMMENT ON TABLE consents IS 'The consents of owners: which text an owner has agreed to by a click, and when. Erasing the user deletes them; their number stays in erasures.';
COMMENT ON COLUMN consents.id IS 'Id of the consent.';
COMMENT ON COLUMN consents.invitation_id IS 'The invitation on whose page the owner clicked.';
COMMENT ON COLUMN consents.text_hash IS 'The text.';
COMMENT ON COLUMN consents.brand IS 'The brand that the owner connects. Null: the remote service asks for it.';
COMMENT ON COLUMN consents.given_at IS 'When the owner clicked. A repeated click for the same text and brand adds none, unless the owner has declined in between.';
COMMENT ON COLUMN consents.withdrawn_at IS 'When the owner withdrew it. Null: it stands.';

CREATE TABLE campaigns (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  name text,
  status text DEFAULT 'receiving' NOT NULL,
  invites boolean NOT NULL,
  adopts boolean DEFAULT false NOT NULL,
  format jsonb NOT NULL,
  rows integer DEFAULT 0 NOT NULL,
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  finished_at timestamptz(3),
  cleared_at timestamptz(3),
  paused_at timestamptz(3),
  per_second real,
  lease_token uuid,
  lease_until timestamptz(3),
  due_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT campaigns_status_is_known CHECK (status IN ('receiving', 'checked', 'running', 'paused', 'cancelled', 'finished')),
  -- A cancelled campaign ends when what it had already sent has a result.
  CONSTRAINT campaigns_end_when_done CHECK (CASE WHEN status IN ('checked', 'finished') THEN finished_at IS NOT NULL
    ELSE status = 'cancelled' OR finished_at IS NULL END),
  CONSTRAINT campaigns_cleared_after_the_end CHECK (cleared_at IS NULL OR finished_at IS NOT NULL),
  CONSTRAINT campaigns_lease_is_whole CHECK ((lease_token IS NULL) = (lease_until IS NULL))
);
CREATE INDEX campaigns_created_at_id_idx ON campaigns(created_at, id);
-- Workers look for campaigns to drain and for uploads whose process has died. Almost all campaigns have ended.
CREATE INDEX campaigns_open_idx ON campaigns(due_at) WHERE finished_at IS NULL;
COMMENT ON TABLE campaigns IS 'Files of customers to register, or dry runs of such files. Their rows are in campaign_rows; the file itself is not stored.';
COMMENT ON COLUMN campaigns.id IS 'Id of the campaign.';
COMMENT ON COLUMN campaigns.name IS 'The tenant''s name for it. Null: none was given.';
COMMENT ON COLUMN campaigns.status IS 'receiving: the file is being uploaded or checked, and no list shows it; deleted if the upload fails. checked: a dry run, whose rows are never registered. running: rows are registered. paused: no further row is registered until a person resumes it. cancelled: no further row is registered. finished: every row has a result.';
COMMENT ON COLUMN campaigns.invites IS 'Whether the owners of registered grid locations are invited.';
COMMENT ON COLUMN campaigns.adopts IS 'Whether its rows are users and sessions that exist at the remote service, and nobody is registered.';
COMMENT ON COLUMN campaigns.format IS 'JSON object of what was detected in the file: type, encoding, bom, delimiter, and columns, the names of the columns as sent and in their order. Empty during the upload.';
COMMENT ON COLUMN campaigns.rows IS 'How many rows the file has, without its header.';
COMMENT ON COLUMN campaigns.created_at IS 'When the upload began.';
COMMENT ON COLUMN campaigns.finished_at IS 'When every row had a result: for a dry run, when it was checked. Null: not yet.';
COMMENT ON COLUMN campaigns.cleared_at IS 'When retention emptied its rows of personal data. Null: not yet.';
COMMENT ON COLUMN campaigns.paused_at IS 'When a person paused it. It is cancelled CAMPAIGN_ROWS_DAYS later. Null: not paused.';
COMMENT ON COLUMN campaigns.per_second IS 'How many rows got a result per second in the last seconds, measured by its worker. Meaningless once lease_until has passed. Null: unknown, or none did.';
COMMENT ON COLUMN campaigns.lease_token IS 'Random id of the worker''s lease. Null without a lease, as during the upload.';
COMMENT ON COLUMN campaigns.lease_until IS 'Until when the lease is valid; the worker renews it. After that another worker may claim the campaign. Null without a lease.';
COMMENT ON COLUMN campaigns.due_at IS 'When a worker looks at it next; infinite while it is leased. During the upload, which delays it with every set of rows: when a worker deletes the campaign, because its upload has died.';

-- One row per row of the file. A row changes at most four times, and never its keys: room on the page keeps the new version beside the old.
CREATE TABLE campaign_rows (
  campaign_id uuid NOT NULL REFERENCES campaigns(id) ON UPDATE CASCADE ON DELETE CASCADE,
  line integer NOT NULL,
  status text NOT NULL,
  tenant_reference text,
  ean text,
  brand text,
  locale text,
  expected_inverters integer,
  metadata jsonb DEFAULT '{}' NOT NULL,
  fields jsonb DEFAULT '[]' NOT NULL,
  problems jsonb DEFAULT '[]' NOT NULL,
  adoption jsonb,
  registration_id uuid,
  user_id uuid,
  invitation_id uuid,
  CONSTRAINT campaign_rows_pkey PRIMARY KEY (campaign_id, line),
  CONSTRAINT campaign_rows_status_is_known CHECK (status IN ('accepted', 'sent', 'invalid', 'registered', 'known', 'rejected', 'uncertain', 'cancelled')),
  -- The rows of a dry run stay accepted when they are emptied.
  CONSTRAINT campaign_rows_accepted_can_be_sent CHECK (status <> 'accepted' OR fields = '[]' OR (tenant_reference IS NOT NULL AND ean IS NOT NULL)),
  CONSTRAINT campaign_rows_ean_is_18_digits CHECK (ean ~ '^[0-9]{18}$'),
  CONSTRAINT campaign_rows_reference_is_normal CHECK (tenant_reference IS NFC NORMALIZED AND tenant_reference !~ '^[\s'']|\s$'),
  CONSTRAINT campaign_rows_sent_has_registration CHECK (status NOT IN ('sent', 'uncertain') OR registration_id IS NOT NULL)
) WITH (fillfactor=85);
-- The drain settles what was sent, and counts it.
CREATE INDEX campaign_rows_open_idx ON campaign_rows (campaign_id, registration_id) WHERE status IN ('sent', 'uncertain');
-- The drain takes the next rows by line. By the primary key, it would pass all rows that are already sent.
CREATE INDEX campaign_rows_accepted_idx ON campaign_rows (campaign_id, line) WHERE status = 'accepted';
-- Progress counts rows by status, and lists filter by it.
CREATE INDEX campaign_rows_campaign_id_status_line_idx ON campaign_rows(campaign_id, status, line);
-- The summary counts problems. Few rows have any.
CREATE INDEX campaign_rows_problems_idx ON campaign_rows (campaign_id) WHERE problems <> '[]';
-- Finds the rows of an erased person that have no reference, or have it in another column.
CREATE INDEX campaign_rows_invalid_fields_idx ON campaign_rows USING gin (fields) WHERE status = 'invalid';
-- The check finds the rows of a reference, and an erasure those of a person in every campaign.
CREATE INDEX campaign_rows_tenant_reference_idx ON campaign_rows(tenant_reference);
COMMENT ON TABLE campaign_rows IS 'The rows of campaigns, each with one EAN of a customer: intents, from which a worker makes registrations. Holds personal data until CAMPAIGN_ROWS_DAYS after the end of the campaign, or until the person is erased.';
COMMENT ON COLUMN campaign_rows.campaign_id IS 'The campaign whose file has the row.';
COMMENT ON COLUMN campaign_rows.line IS 'The line of the file on which the row begins, from 1; the header is a line too.';
COMMENT ON COLUMN campaign_rows.status IS 'accepted: to be registered, or in a dry run: could be. sent: part of the pending registration registration_id; the API says accepted. invalid: see problems; never sent. registered: its registration succeeded. known: the reference was already registered with the same EANs. rejected, uncertain: as its registration. cancelled: its campaign was cancelled before it was sent, or its person was erased.';
COMMENT ON COLUMN campaign_rows.tenant_reference IS 'The tenant''s own name for the user; rows of one reference are one user. Null if it was missing or faulty, and once erased or emptied.';
COMMENT ON COLUMN campaign_rows.ean IS 'EAN of the grid location, as it is sent to the remote service: without the blanks of the file. Null if it was missing or faulty, and once erased or emptied.';
COMMENT ON COLUMN campaign_rows.brand IS 'The brand to invite for. Null: none was given, or it is faulty.';
COMMENT ON COLUMN campaign_rows.locale IS 'The language of the owner''s page. Null: that of the browser, or it is faulty.';
COMMENT ON COLUMN campaign_rows.expected_inverters IS 'How many inverters the tenant expects. Null: not known, or it is faulty.';
COMMENT ON COLUMN campaign_rows.metadata IS 'JSON object of the columns metadata.*, for the user and the invitation. Empty once erased or emptied. May hold personal data.';
COMMENT ON COLUMN campaign_rows.fields IS 'JSON array of the cells as sent, in the order of the columns, for result.csv. Empty if the row is too long, and once erased or emptied. May hold personal data.';
COMMENT ON COLUMN campaign_rows.problems IS 'JSON array of what is wrong or doubtful: objects of column (null: the whole row), code and message, without the values of cells. Warnings too, of a row that is not invalid. Empty once erased or emptied.';
COMMENT ON COLUMN campaign_rows.adoption IS 'JSON object of what exists at the remote service: the user object and sessions, each with id, gridLocationId and brand. Null if the row is to be registered or is invalid, and once erased or emptied. Holds personal data.';
COMMENT ON COLUMN campaign_rows.registration_id IS 'The registration that it became part of, or the one that existed before. Null: none. No foreign key, because erasure and retention delete registrations.';
COMMENT ON COLUMN campaign_rows.user_id IS 'The user of its reference. Null: not registered.';
COMMENT ON COLUMN campaign_rows.invitation_id IS 'The invitation of its grid location. Null: none, or not yet.';

-- Every poll moves due_at, which is indexed, so no poll can be HOT; room on the page keeps the new version beside the old.
-- The table is small and turns over all day: vacuum by a small fraction, without the cost delay that would let it fall behind.
CREATE TABLE session_polls (
  session_id uuid PRIMARY KEY REFERENCES onboarding_sessions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  user_id uuid NOT NULL,
  due_at timestamptz(3) NOT NULL,
  batch_id bigint,
  claimed_at timestamptz(3) NOT NULL,
  checked_at timestamptz(3) NOT NULL,
  phase text NOT NULL,
  anchor_at timestamptz(3) NOT NULL,
  failures smallint DEFAULT 0 NOT NULL,
  failing_since timestamptz(3),
  not_found smallint DEFAULT 0 NOT NULL,
  not_found_since timestamptz(3),
  look_again_at timestamptz(3),
  older_since timestamptz(3),
  answer_hash bytea,
  last_error text,
  facts_hash bytea,
  ending_since timestamptz(3),
  ending_reads integer DEFAULT 0 NOT NULL,
  changes_clear_at timestamptz(3),
  flapping_since timestamptz(3),
  planned_at timestamptz(3),
  CONSTRAINT session_polls_phase_is_known CHECK (phase IN ('awaiting_owner', 'awaiting_installation', 'settling', 'late', 'unrecognised', 'watching'))
) WITH (fillfactor=85, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX session_polls_due_at_idx ON session_polls(due_at) WHERE phase <> 'watching';
-- Settled sessions are many and read seldom. With an index of their own, they cost the claims and figures of all others nothing.
CREATE INDEX session_polls_watching_idx ON session_polls(due_at) WHERE phase = 'watching';
-- A claim walks the due sessions of each lane: of the same order of magnitude of the planned interval (src/onboarding/poll/lanes.rules.ts,
-- whose list of intervals this repeats). An expression instead of a column, so that whatever writes due_at writes the
-- lane. The status counts the overdue by the index on due_at.
CREATE INDEX session_polls_lane_idx ON session_polls (width_bucket(due_at - greatest(claimed_at, planned_at), '{1 s,4 s,16 s,64 s,256 s,1024 s,4096 s,16384 s}'::interval[]), due_at)
  WHERE phase <> 'watching';
COMMENT ON TABLE session_polls IS 'When each watched session is read next, one row per session that is not closed, and per settled session. Narrow, because every read writes it.';
COMMENT ON COLUMN session_polls.session_id IS 'The watched session.';
COMMENT ON COLUMN session_polls.user_id IS 'Its user: one of the two path shapes of the read needs the id (interface 4.4).';
COMMENT ON COLUMN session_polls.due_at IS 'When it is read next. If more is due than may be read, src/onboarding/poll/lanes.rules.ts says which goes first. Written by the claim, for the read after it.';
COMMENT ON COLUMN session_polls.batch_id IS 'The last claim of the session. While poll_batches has that id, the read is in flight; afterwards the value means nothing. Null before the first claim, and after one whose worker died.';
COMMENT ON COLUMN session_polls.claimed_at IS 'When it was last claimed for a read that has not failed; a failed read sets it back to checked_at.';
COMMENT ON COLUMN session_polls.checked_at IS 'claimed_at of the claim before. While a read is in flight, this is the time of the last good read; otherwise claimed_at is.';
COMMENT ON COLUMN session_polls.phase IS 'Why it is watched, which decides how often: awaiting_owner, awaiting_installation, settling (online, further inverters may follow), late (expired, may still come online), unrecognised, watching (settled and closed, inverters may go missing).';
COMMENT ON COLUMN session_polls.anchor_at IS 'When the phase began. The older the phase, the longer the intervals between reads.';
COMMENT ON COLUMN session_polls.failures IS 'Reads in a row that failed or found nothing; each doubles the interval. 0 after a good read. A read that was not sent (see last_error) does not count, because it says nothing about the session.';
COMMENT ON COLUMN session_polls.failing_since IS 'When the first of the reads failed, or was not sent, that came after the last good read. Means nothing if it is before the last good read, since a good read that changes nothing writes no row.';
COMMENT ON COLUMN session_polls.not_found IS 'Consecutive reads that found the session on no path (404 or 410), or that were refused on every path (401 or 403), each while other sessions were read. Too many over too long make the session lost (src/onboarding/rules/read-plan.rules.ts).';
COMMENT ON COLUMN session_polls.not_found_since IS 'When the first of the reads in not_found began. Null while not_found is 0.';
COMMENT ON COLUMN session_polls.answer_hash IS 'SHA-1 of the last stored response. A response with the same hash is not evaluated again. Null until the first read.';
COMMENT ON COLUMN session_polls.last_error IS 'Why a read failed or was not sent, without secrets. Belongs to the last read only if claimed_at equals checked_at, because a good read without news does not write it. admin.sessions shows it accordingly.';
COMMENT ON COLUMN session_polls.facts_hash IS 'SHA-1 of the documented fields of the last response. A response that differs elsewhere only is not news. Null until the first read, and after a response without a body.';
COMMENT ON COLUMN session_polls.ending_since IS 'Since when every read has given a reason to close the session. The session is closed once the reason has lasted (src/onboarding/rules/ending.rules.ts). Null if there is none.';
COMMENT ON COLUMN session_polls.ending_reads IS 'How many reads in a row gave that reason.';
COMMENT ON COLUMN session_polls.changes_clear_at IS 'When the changes that count against the limit are forgotten (src/onboarding/rules/flapping.rules.ts). Null before the first change.';
COMMENT ON COLUMN session_polls.older_since IS 'When a response first had an older updatedAt than the last recorded one, if all responses since did. Such responses change nothing.';
COMMENT ON COLUMN session_polls.look_again_at IS 'When a read can confirm that an absent inverter is missing, even if its response is unchanged. Null if no inverter is absent.';
COMMENT ON COLUMN session_polls.flapping_since IS 'Since when changes beyond the limit have not been recorded, announced as session.flapping. Null again with the first change after an hour without any.';
COMMENT ON COLUMN session_polls.planned_at IS 'When a read last failed or was put off, or when the claim of a dead worker was ended. If it is later than claimed_at, due_at was planned from it. Null: never.';

CREATE TABLE poll_batches (
  id bigserial PRIMARY KEY,
  worker text NOT NULL,
  size integer NOT NULL,
  claimed_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  lease_until timestamptz(3) NOT NULL
) WITH (autovacuum_vacuum_threshold=100, autovacuum_vacuum_scale_factor=0);
COMMENT ON TABLE poll_batches IS 'Claims of due sessions in progress: the lease and the fence of all sessions with its id. Deleted when all its reads are done, or when a worker finds its lease expired and makes its sessions due again; from then on, its own worker changes nothing.';
COMMENT ON COLUMN poll_batches.id IS 'Number of the claim, never used twice: the fencing token.';
COMMENT ON COLUMN poll_batches.worker IS 'The process that reads them: host and process id.';
COMMENT ON COLUMN poll_batches.size IS 'How many sessions it claimed.';
COMMENT ON COLUMN poll_batches.claimed_at IS 'When it was claimed.';
COMMENT ON COLUMN poll_batches.lease_until IS 'Until when the lease is valid. After that its sessions may be claimed again.';

CREATE TABLE session_observations (
  id bigserial PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES onboarding_sessions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  source text NOT NULL,
  http_status smallint NOT NULL,
  body json,
  hash bytea NOT NULL,
  observed_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL
);
CREATE INDEX session_observations_session_id_id_idx ON session_observations(session_id, id);
COMMENT ON TABLE session_observations IS 'Responses of the remote service about a session that differed from the one before in a documented field, complete except for startUrl. rederive applies changed rules to them. Deleted when the user is erased, because an unknown field may contain anything.';
COMMENT ON COLUMN session_observations.id IS 'Order of recording.';
COMMENT ON COLUMN session_observations.session_id IS 'The session it is about.';
COMMENT ON COLUMN session_observations.source IS 'The call: start (interface 4.3) or read (4.4).';
COMMENT ON COLUMN session_observations.http_status IS 'HTTP status of the response.';
COMMENT ON COLUMN session_observations.body IS 'The response as received, without startUrl; json instead of jsonb, so that no number or escape is altered. Null if it had no readable body.';
COMMENT ON COLUMN session_observations.hash IS 'SHA-1 of the response, to recognise a new one.';
COMMENT ON COLUMN session_observations.observed_at IS 'When it was recorded.';

CREATE TABLE session_transitions (
  id bigserial PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES onboarding_sessions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  from_state text,
  to_state text NOT NULL,
  basis text NOT NULL,
  rule text NOT NULL,
  observation_id bigint REFERENCES session_observations(id) ON UPDATE CASCADE ON DELETE SET NULL,
  at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT session_transitions_basis_follows_state CHECK (basis = CASE WHEN to_state = 'awaiting_installation' THEN 'inferred' ELSE 'observed' END),
  CONSTRAINT session_transitions_move CHECK (from_state IS DISTINCT FROM to_state),
  CONSTRAINT session_transitions_states_are_known CHECK (from_state IN ('awaiting_owner', 'awaiting_installation', 'online', 'expired', 'lost', 'unrecognised')
    AND to_state IN ('awaiting_owner', 'awaiting_installation', 'online', 'expired', 'lost', 'unrecognised'))
);
CREATE INDEX session_transitions_observation_id_idx ON session_transitions(observation_id);
CREATE INDEX session_transitions_session_id_id_idx ON session_transitions(session_id, id);
CREATE INDEX session_transitions_to_state_at_idx ON session_transitions(to_state, at);
COMMENT ON TABLE session_transitions IS 'Every state that a session entered, with the rule that decided: the history of onboarding_sessions.state.';
COMMENT ON COLUMN session_transitions.id IS 'Order of recording.';
COMMENT ON COLUMN session_transitions.session_id IS 'The session whose state changed.';
COMMENT ON COLUMN session_transitions.from_state IS 'The state it left. Null for the first, at the start.';
COMMENT ON COLUMN session_transitions.to_state IS 'The state it entered.';
COMMENT ON COLUMN session_transitions.basis IS 'observed or inferred, as in onboarding_sessions.';
COMMENT ON COLUMN session_transitions.rule IS 'Name of the rule that decided (src/onboarding/rules/machine.rules.ts).';
COMMENT ON COLUMN session_transitions.observation_id IS 'The response that caused it. Null if it was not a new response (such as the last of several 404s), and once the user has been erased.';
COMMENT ON COLUMN session_transitions.at IS 'When it was recorded.';

CREATE TABLE inverters (
  session_id uuid NOT NULL REFERENCES onboarding_sessions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  id uuid NOT NULL,
  first_seen_at timestamptz(3) NOT NULL,
  last_seen_at timestamptz(3) NOT NULL,
  absent_since timestamptz(3),
  missing_since timestamptz(3),
  CONSTRAINT inverters_pkey PRIMARY KEY (session_id, id)
);
CREATE INDEX inverters_first_seen_at_id_idx ON inverters(first_seen_at, id);
CREATE INDEX inverters_id_idx ON inverters(id);
-- The status counts the sessions whose inverters are missing.
CREATE INDEX inverters_missing_idx ON inverters (session_id) WHERE missing_since IS NOT NULL;
COMMENT ON TABLE inverters IS 'Inverters that a session has listed (interface 2.6). Several sessions may list one inverter. The interface specifies no field but the id. Deleted when the user is erased, because the id leads to the production data of a household.';
COMMENT ON COLUMN inverters.session_id IS 'The session that listed it. Sessions of several users may list the same inverter, each with its own times.';
COMMENT ON COLUMN inverters.id IS 'Inverter id given by the remote service.';
COMMENT ON COLUMN inverters.first_seen_at IS 'When the session listed it first.';
COMMENT ON COLUMN inverters.last_seen_at IS 'When it was last seen, as of the last change of this row. While absent_since and missing_since are null, it was last seen at the session''s last good read; reads without news do not write this row.';
COMMENT ON COLUMN inverters.absent_since IS 'When a response first did not list it, while each response since has not listed it either. Null while the last response lists it, or says nothing about inverters.';
COMMENT ON COLUMN inverters.missing_since IS 'When a response first did not list it, once a later response has confirmed it (LASTING_INTERVALS in src/onboarding/rules/schedule.rules.ts). Null while it counts as present.';

CREATE TABLE domain_events (
  id uuid PRIMARY KEY,
  position bigserial,
  sequence bigint,
  name text NOT NULL,
  subject text NOT NULL,
  data jsonb NOT NULL,
  time timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  traceparent text
) WITH (fillfactor=90);
CREATE UNIQUE INDEX domain_events_position_key ON domain_events(position);
CREATE UNIQUE INDEX domain_events_sequence_key ON domain_events(sequence);
CREATE INDEX domain_events_subject_position_idx ON domain_events(subject, position);
-- People ask for the events of an hour, so their index must cost the insert nothing: a few pages for millions of events. minmax_multi,
-- because sequencing leaves gaps that newer events fill; autosummarize, because without it new pages are read whole.
CREATE INDEX domain_events_time_idx ON domain_events USING BRIN (time timestamptz_minmax_multi_ops) WITH (autosummarize = on);
-- A reader's position must never pass an event that has not committed yet. The next reader therefore gives the sequence after the commit;
-- this index holds only the few events without one.
CREATE INDEX domain_events_unsequenced ON domain_events (position) WHERE sequence IS NULL;
COMMENT ON TABLE domain_events IS 'The outbox: every event, inserted in the transaction of the fact that it announces. All readers read it. Holds no EAN, name, address or startUrl.';
COMMENT ON COLUMN domain_events.id IS 'The id of the CloudEvent; readers recognise a repetition by it.';
COMMENT ON COLUMN domain_events.position IS 'Order of insertion. The number is taken before the commit, so readers must not use it as their position: see sequence.';
COMMENT ON COLUMN domain_events.sequence IS 'Order of reading, given after the commit. No event that commits later gets a lower one. Null for a moment after the commit.';
COMMENT ON COLUMN domain_events.name IS 'Name of the event, such as session.online; its CloudEvents type is pv.<name>.v1.';
COMMENT ON COLUMN domain_events.subject IS 'What the event is about, within which events are ordered: the id of the session, otherwise of the user or registration.';
COMMENT ON COLUMN domain_events.data IS 'The data of the CloudEvent, with the tenant''s metadata of the session. Once the user has been erased, its reference, metadata and inverters are empty.';
COMMENT ON COLUMN domain_events.time IS 'When the fact was recorded.';
COMMENT ON COLUMN domain_events.traceparent IS 'The span that appended the event (W3C Trace Context). Null if traces were not exported.';

CREATE TABLE api_keys (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  name text NOT NULL,
  scopes text[],
  key_hash bytea NOT NULL,
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  created_by text NOT NULL,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  refused_401 bigint DEFAULT 0 NOT NULL,
  refused_403 bigint DEFAULT 0 NOT NULL,
  refused_429 bigint DEFAULT 0 NOT NULL,
  last_refused_at timestamptz(3),
  CONSTRAINT api_keys_hash_is_sha256 CHECK (octet_length(key_hash) = 32),
  CONSTRAINT api_keys_scopes_are_known CHECK (scopes IS NOT NULL AND scopes <@ ARRAY[
    'users:read', 'users:write', 'users:erase', 'registrations:decide', 'onboarding:read', 'onboarding:write', 'links:read',
    'invitations:write', 'events:read', 'webhooks:manage', 'remote:call', 'admin'])
);
CREATE UNIQUE INDEX api_keys_key_hash_key ON api_keys(key_hash);
COMMENT ON TABLE api_keys IS 'Keys of the tenant''s own apps, except ADMIN_API_KEY.';
COMMENT ON COLUMN api_keys.id IS 'Id of the key, not the key.';
COMMENT ON COLUMN api_keys.name IS 'Name given at its creation.';
COMMENT ON COLUMN api_keys.scopes IS 'What the key allows.';
COMMENT ON COLUMN api_keys.key_hash IS 'SHA-256 of the key. The key itself was returned once, and is stored only in the encrypted response to a request with an Idempotency-Key.';
COMMENT ON COLUMN api_keys.created_at IS 'When it was created.';
COMMENT ON COLUMN api_keys.created_by IS 'Who created it, as in audit_log.actor.';
COMMENT ON COLUMN api_keys.last_used_at IS 'When it was last used, to the minute. Null: never.';
COMMENT ON COLUMN api_keys.revoked_at IS 'When it was revoked. Null while it is valid.';
COMMENT ON COLUMN api_keys.refused_401 IS 'Requests with it that were refused with 401, because it is revoked.';
COMMENT ON COLUMN api_keys.refused_403 IS 'Requests with it that were refused with 403, because it lacks a scope.';
COMMENT ON COLUMN api_keys.refused_429 IS 'Requests with it that were refused with 429, because there were too many.';
COMMENT ON COLUMN api_keys.last_refused_at IS 'When a request with it was last refused, to the minute. Null: never.';

CREATE TABLE remote_tokens (
  name text PRIMARY KEY,
  generation bigint DEFAULT 0 NOT NULL,
  token_ciphertext bytea,
  token_type text,
  expires_in_raw text,
  obtained_at timestamptz(3),
  renew_at timestamptz(3),
  expires_at timestamptz(3),
  rejected_at timestamptz(3),
  failures integer DEFAULT 0 NOT NULL,
  last_error text,
  next_attempt_at timestamptz(3),
  lease_token uuid,
  lease_until timestamptz(3),
  credentials_fingerprint text,
  probed_at timestamptz(3),
  refused_operations text[] DEFAULT ARRAY[]::text[],
  CONSTRAINT remote_tokens_token_has_times CHECK (token_ciphertext IS NULL OR (obtained_at IS NOT NULL AND renew_at IS NOT NULL AND expires_at IS NOT NULL))
);
COMMENT ON TABLE remote_tokens IS 'The tenant''s access token for the remote service (interface 2.2, 4.1, 5), shared by all replicas. One row, whose lease lets one replica at a time renew the token.';
COMMENT ON COLUMN remote_tokens.name IS 'Name of the token: tenant.';
COMMENT ON COLUMN remote_tokens.generation IS 'Counts the tokens obtained. A 401 invalidates the generation of its call, and no newer one.';
COMMENT ON COLUMN remote_tokens.token_ciphertext IS 'The token, encrypted with a key of ENCRYPTION_KEYS and bound to this row. Null before the first token and after an invalidation.';
COMMENT ON COLUMN remote_tokens.token_type IS 'token_type as received. Not used: the header is always Bearer. Null before the first token.';
COMMENT ON COLUMN remote_tokens.expires_in_raw IS 'expires_in exactly as received, because its type is ambiguous (interface 2.2). Null if it was missing.';
COMMENT ON COLUMN remote_tokens.obtained_at IS 'When the token was obtained. Null before the first.';
COMMENT ON COLUMN remote_tokens.renew_at IS 'When it is renewed, well before it expires. Null before the first.';
COMMENT ON COLUMN remote_tokens.expires_at IS 'When the token counts as expired, by expires_in and at most after 14 days. Null before the first.';
COMMENT ON COLUMN remote_tokens.rejected_at IS 'When the token or the credentials were refused. Until a trial by one call succeeds, no other call is sent. Null while they are accepted.';
COMMENT ON COLUMN remote_tokens.failures IS 'Failures in a row: requests for a token that failed, or fresh tokens that were refused.';
COMMENT ON COLUMN remote_tokens.last_error IS 'Why the last request or trial failed, without secrets. Null after a success.';
COMMENT ON COLUMN remote_tokens.next_attempt_at IS 'Until when no replica tries again. Null if nothing has failed.';
COMMENT ON COLUMN remote_tokens.lease_token IS 'Random id of the call that obtains or tries a token. Null if there is none.';
COMMENT ON COLUMN remote_tokens.lease_until IS 'Until when the lease of that call is valid. Null if there is none.';
COMMENT ON COLUMN remote_tokens.credentials_fingerprint IS 'Hash of the credentials and the address, by which a token of other credentials or another service is recognised. Null before the first attempt.';
COMMENT ON COLUMN remote_tokens.probed_at IS 'When a person last requested a token before next_attempt_at. Null: never.';
COMMENT ON COLUMN remote_tokens.refused_operations IS 'The classes of operations whose trial of a token was refused with a 401, and none of whose calls was accepted since. While rejected_at is null, a 401 to them says nothing about the token.';
INSERT INTO remote_tokens (name) VALUES ('tenant');

CREATE TABLE audit_log (
  id bigserial PRIMARY KEY,
  at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  target text,
  details jsonb NOT NULL,
  request_id text
);
CREATE INDEX audit_log_at_id_idx ON audit_log(at, id);
CREATE INDEX audit_log_target_idx ON audit_log(target);
-- With the statistics, PostgreSQL knows which actors never did an action, and reads 12 pages for them. It read all entries of the actor, since
-- it expected to find some soon: 2,758 pages of 200,000 entries.
CREATE INDEX audit_log_actor_action_at_id_idx ON audit_log(actor, action, at, id);
CREATE STATISTICS audit_log_actor_action_stats (mcv) ON actor, action FROM audit_log;
CREATE INDEX audit_log_action_at_id_idx ON audit_log(action, at, id);
COMMENT ON TABLE audit_log IS 'Who did what: keys created and revoked, decisions about registrations, users erased, and the like. Rows are only inserted; an erasure clears their request ids.';
COMMENT ON COLUMN audit_log.id IS 'Order of recording.';
COMMENT ON COLUMN audit_log.at IS 'When it was recorded, in the transaction of the action.';
COMMENT ON COLUMN audit_log.actor IS 'key:<id> of a key in api_keys, environment for ADMIN_API_KEY, or what acted without a key, such as cli.';
COMMENT ON COLUMN audit_log.action IS 'The action, such as api_key.created.';
COMMENT ON COLUMN audit_log.target IS 'Id of the object of the action. Null if it has none.';
COMMENT ON COLUMN audit_log.details IS 'Further details, as a JSON object without secrets.';
COMMENT ON COLUMN audit_log.request_id IS 'X-Request-Id of the request, as in the log. Null if there was no request, and once the user concerned has been erased: callers choose the id, so it may name somebody.';

CREATE TABLE erasures (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  user_id uuid REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  erased_at timestamptz(3) NOT NULL,
  grid_locations integer NOT NULL,
  registrations integer NOT NULL,
  sessions integer NOT NULL,
  observations integer NOT NULL,
  inverters integer NOT NULL,
  events integer NOT NULL,
  consents integer NOT NULL,
  reference_hash bytea NOT NULL
);
CREATE UNIQUE INDEX erasures_user_id_key ON erasures(user_id);
CREATE INDEX erasures_reference_hash_idx ON erasures(reference_hash);
COMMENT ON TABLE erasures IS 'Receipts: how much was erased of which user. The only identifiers are the remote id of the user and the hash of the reference. audit_log has who requested it.';
COMMENT ON COLUMN erasures.id IS 'Our id of the erasure.';
COMMENT ON COLUMN erasures.user_id IS 'The erased user. Null if there were only registrations that had not become a user.';
COMMENT ON COLUMN erasures.erased_at IS 'When it was erased.';
COMMENT ON COLUMN erasures.grid_locations IS 'How many grid locations lost their EAN.';
COMMENT ON COLUMN erasures.registrations IS 'How many registrations were deleted, whatever their status.';
COMMENT ON COLUMN erasures.sessions IS 'How many sessions were emptied, and closed where they were still watched.';
COMMENT ON COLUMN erasures.observations IS 'How many stored responses of the remote service were deleted.';
COMMENT ON COLUMN erasures.inverters IS 'How many inverters of sessions were deleted.';
COMMENT ON COLUMN erasures.events IS 'How many events were emptied of personal data.';
COMMENT ON COLUMN erasures.consents IS 'How many consents of the owner were deleted.';
COMMENT ON COLUMN erasures.reference_hash IS 'The id of the encryption key and a hash under that key, by which a file is recognised that has the erased reference again. Without the key, no guess of a reference can be checked against it.';

CREATE TABLE remote_operations (
  operation text PRIMARY KEY,
  quiet_until timestamptz(3),
  health text DEFAULT 'healthy' NOT NULL,
  since timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  reason text,
  trouble_until timestamptz(3),
  open_until timestamptz(3),
  failed_trials integer DEFAULT 0 NOT NULL,
  -- All operations share the credentials; their trouble stands in the row of the token.
  CONSTRAINT remote_operations_health_is_known CHECK (health IN ('healthy', 'degraded') OR (health = 'credentials_rejected' AND operation = 'token')),
  CONSTRAINT remote_operations_operation_is_known CHECK (operation IN ('token', 'register_user', 'start_session', 'read_session', 'pass_through')),
  CONSTRAINT remote_operations_trouble_has_reason CHECK ((health = 'healthy') = (reason IS NULL) AND (trouble_until IS NULL OR health = 'degraded'))
);
-- Each operation always has its row: updates need no insert.
INSERT INTO remote_operations (operation) VALUES ('token'), ('register_user'), ('start_session'), ('read_session'), ('pass_through');
COMMENT ON TABLE remote_operations IS 'What all replicas know of each class of remote operations, one row each. A replica writes it when it is asked to wait, finds the service in trouble, or sees it recover. Every replica reads it a few times a second.';
COMMENT ON COLUMN remote_operations.operation IS 'token, register_user, start_session, read_session or pass_through.';
COMMENT ON COLUMN remote_operations.quiet_until IS 'Until when no replica sends this operation, because the service asked for it (Retry-After of a 429 or 503), at most for an hour. Null, or in the past: no wait.';
COMMENT ON COLUMN remote_operations.health IS 'healthy: nothing is known to be wrong. degraded: a replica has stopped calling after failures, or was asked to wait for a minute in total within 5 minutes. credentials_rejected: the service refuses the credentials or fresh tokens (operation token only). Announced as remote.recovered, remote.degraded, remote.credentials_rejected, each once.';
COMMENT ON COLUMN remote_operations.since IS 'Since when health has had this value.';
COMMENT ON COLUMN remote_operations.reason IS 'The trouble, redacted. Null while healthy.';
COMMENT ON COLUMN remote_operations.trouble_until IS 'While degraded: a success before this time does not end the trouble, because another replica has just reported it. Each report moves it on.';
COMMENT ON COLUMN remote_operations.open_until IS 'Until when no replica sends calls of register_user or start_session, because they failed or because one replica tries a call. After that, one replica may try a call. Null: all may send calls. Always null for token, read_session and pass_through.';
COMMENT ON COLUMN remote_operations.failed_trials IS 'How many trials have failed since the last success. The wait doubles with each.';

CREATE TABLE remote_replicas (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  joined_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  role text NOT NULL,
  seen_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  reads_per_second double precision DEFAULT 0 NOT NULL,
  paced_since timestamptz(3),
  stopped_at timestamptz(3),
  clock_offset_seconds double precision NOT NULL,
  signs jsonb NOT NULL,
  CONSTRAINT remote_replicas_role_is_known CHECK (role IN ('api', 'worker', 'all'))
);
COMMENT ON TABLE remote_replicas IS 'The running processes of the deployment, one row each, written by each about itself. The row of a process that stopped or vanished stays for an hour.';
COMMENT ON COLUMN remote_replicas.id IS 'Random, new at every start of a process.';
COMMENT ON COLUMN remote_replicas.name IS 'Host and process id, for people.';
COMMENT ON COLUMN remote_replicas.joined_at IS 'When its first sign of life came.';
COMMENT ON COLUMN remote_replicas.expires_at IS 'Until when it counts as alive.';
COMMENT ON COLUMN remote_replicas.role IS 'ROLE of the process.';
COMMENT ON COLUMN remote_replicas.seen_at IS 'Its last sign of life.';
COMMENT ON COLUMN remote_replicas.reads_per_second IS 'Reads of sessions per second that the remote service served to it, in the last 10 seconds.';
COMMENT ON COLUMN remote_replicas.paced_since IS 'Since when its calls have waited for SCS_MAX_REQUESTS_PER_SECOND. Null: none waits.';
COMMENT ON COLUMN remote_replicas.stopped_at IS 'When it stopped in order. Null: it runs or has vanished.';
COMMENT ON COLUMN remote_replicas.clock_offset_seconds IS 'By how much its clock was ahead of the clock of the database at its last sign of life.';
COMMENT ON COLUMN remote_replicas.signs IS 'What it reports about itself, by the names of GET /status: requests, failedRequests and refusedRequests of the last minute, waitingForConnectionsSeconds and longestStatement while its pool is used up, hasNoSpace, slow and latestCalls of the operations of the remote service, its version, commit and newestMigration; and recentCalls: the calls of the last 5 minutes, with their failures and the number of successes of each duration class.';

CREATE TABLE status_samples (
  at timestamptz(3) PRIMARY KEY,
  reasons jsonb NOT NULL,
  figures jsonb NOT NULL
);
COMMENT ON TABLE status_samples IS 'The status of the deployment, one row a minute, inserted by the first process to do so. Deleted after 8 days.';
COMMENT ON COLUMN status_samples.at IS 'The beginning of the minute.';
COMMENT ON COLUMN status_samples.reasons IS 'The codes of the reasons, each with the time since when it has been true. An absence of at most 5 minutes does not count.';
COMMENT ON COLUMN status_samples.figures IS 'The figures of GET /status/history by name; those of an operation of the remote service as operation.name.';

CREATE TABLE remote_drift (
  operation text NOT NULL,
  kind text NOT NULL,
  field text NOT NULL,
  expected text,
  found text,
  first_seen_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  last_seen_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT remote_drift_pkey PRIMARY KEY (operation, kind, field),
  CONSTRAINT remote_drift_kind_is_known CHECK (kind IN ('new_field', 'missing_field', 'other_type', 'undescribed_flags', 'token_form', 'foreign_id')),
  CONSTRAINT remote_drift_operation_is_known CHECK (operation IN ('token', 'register_user', 'start_session', 'read_session'))
);
COMMENT ON TABLE remote_drift IS 'How responses of the remote service differ from its interface description, one row for each difference. Names and types only, never a value. Delete a row once its difference is understood; it is announced again when it is next seen.';
COMMENT ON COLUMN remote_drift.operation IS 'The operation whose response differs.';
COMMENT ON COLUMN remote_drift.kind IS 'new_field: a field that the interface does not describe. missing_field: a described field that is absent. other_type: a field of another type or form. undescribed_flags: a combination of flags that the interface does not describe (session state unrecognised). token_form: expires_in or token_type in another form. foreign_id: an id or a reference that belongs to something else than requested, such as another user; nothing of that response was used.';
COMMENT ON COLUMN remote_drift.field IS 'Path of the field, such as inverters[].id; for undescribed_flags the flags. * stands for a name that might be data.';
COMMENT ON COLUMN remote_drift.expected IS 'Type in the interface description. Null if the interface does not describe it.';
COMMENT ON COLUMN remote_drift.found IS 'Type found first; of foreign_id, what the id belongs to. Null if nothing was found.';
COMMENT ON COLUMN remote_drift.first_seen_at IS 'When it was first seen, and announced as remote.contract_drift.';
COMMENT ON COLUMN remote_drift.last_seen_at IS 'When it was last seen, to the hour. Responses that did not change are not compared again.';

CREATE TABLE webhook_endpoints (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  url text,
  handler text,
  types text[],
  description text DEFAULT '' NOT NULL,
  headers_ciphertext bytea,
  secret_ciphertext bytea,
  previous_secret_ciphertext bytea,
  previous_secret_until timestamptz(3),
  read_to bigint NOT NULL,
  disabled_at timestamptz(3),
  disabled_reason text,
  failures integer DEFAULT 0 NOT NULL,
  failing_since timestamptz(3),
  quiet_until timestamptz(3),
  lease_token uuid,
  lease_until timestamptz(3),
  due_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  seen_at timestamptz(3),
  last_delivered_at timestamptz(3),
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  is_reported boolean DEFAULT false NOT NULL,
  CONSTRAINT webhook_endpoints_disabled_has_reason CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL) AND disabled_reason IN ('requested', 'gone', 'failing')),
  CONSTRAINT webhook_endpoints_failing_since_first_failure CHECK ((failures = 0) = (failing_since IS NULL)),
  CONSTRAINT webhook_endpoints_is_webhook_or_handler CHECK (
    (handler IS NULL) = (url IS NOT NULL) AND (handler IS NULL) = (secret_ciphertext IS NOT NULL) AND (handler IS NULL) = (seen_at IS NULL)),
  CONSTRAINT webhook_endpoints_lease_ends CHECK ((lease_token IS NULL) = (lease_until IS NULL)),
  CONSTRAINT webhook_endpoints_previous_secret_ends CHECK ((previous_secret_ciphertext IS NULL) = (previous_secret_until IS NULL)),
  CONSTRAINT webhook_endpoints_types_are_names CHECK (types IS NOT NULL AND array_position(types, NULL) IS NULL)
);
CREATE UNIQUE INDEX webhook_endpoints_handler_key ON webhook_endpoints(handler);
COMMENT ON TABLE webhook_endpoints IS 'Endpoints to which events are delivered: by webhooks (docs/webhooks.md) or, if handler is set, by calls of a handler in the service''s own process (@OnEvent). Holds the position of each and its health.';
COMMENT ON COLUMN webhook_endpoints.id IS 'Our id of the endpoint.';
COMMENT ON COLUMN webhook_endpoints.url IS 'Address of the receiver. May hold a secret of it in path or query, so it is in no log. Null for a handler.';
COMMENT ON COLUMN webhook_endpoints.handler IS 'Class.method of the handler, or its given name. A renamed handler is a new one. Null for a webhook.';
COMMENT ON COLUMN webhook_endpoints.lease_token IS 'Random id of the process that delivers. Null without a lease.';
COMMENT ON COLUMN webhook_endpoints.lease_until IS 'Until when the lease is valid. Null without a lease.';
COMMENT ON COLUMN webhook_endpoints.due_at IS 'When a process delivers next, also without new events. Infinite while it is leased.';
COMMENT ON COLUMN webhook_endpoints.seen_at IS 'When a process with this handler last ran, to the hour. After 7 days without one, the handler is deleted. Null for a webhook.';
COMMENT ON COLUMN webhook_endpoints.types IS 'Names of the events to deliver. Empty: all.';
COMMENT ON COLUMN webhook_endpoints.description IS 'Description given by its creator.';
COMMENT ON COLUMN webhook_endpoints.headers_ciphertext IS 'Its own headers as a JSON object, encrypted and bound to this row. Null: none.';
COMMENT ON COLUMN webhook_endpoints.secret_ciphertext IS 'The secret that signs, encrypted and bound to this row; it was returned once. Null for a handler.';
COMMENT ON COLUMN webhook_endpoints.previous_secret_ciphertext IS 'Earlier secrets, newest first, as a JSON list of {"secret", "until"}, encrypted and bound to this row; each also signs until its time. Null: none.';
COMMENT ON COLUMN webhook_endpoints.previous_secret_until IS 'Until when the last of the earlier secrets signs. Null: none.';
COMMENT ON COLUMN webhook_endpoints.read_to IS 'domain_events.sequence up to which its deliveries have been inserted.';
COMMENT ON COLUMN webhook_endpoints.disabled_at IS 'Since when nothing is sent. Null while it is enabled.';
COMMENT ON COLUMN webhook_endpoints.disabled_reason IS 'requested: by a person or app. gone: it returned 410. failing: only failures for days. Null while it is enabled.';
COMMENT ON COLUMN webhook_endpoints.failures IS 'Attempts in a row that failed, whatever the event.';
COMMENT ON COLUMN webhook_endpoints.failing_since IS 'When the first of these failures was. Null if the last attempt succeeded.';
COMMENT ON COLUMN webhook_endpoints.quiet_until IS 'Until when nothing is sent, because it asked for it (Retry-After) or has been failing. Null: never.';
COMMENT ON COLUMN webhook_endpoints.last_delivered_at IS 'When an event was last delivered. Null: never.';
COMMENT ON COLUMN webhook_endpoints.created_at IS 'When it was created.';
COMMENT ON COLUMN webhook_endpoints.created_by IS 'Who created it, as in audit_log.actor.';
COMMENT ON COLUMN webhook_endpoints.updated_at IS 'When a person or key last changed it.';
COMMENT ON COLUMN webhook_endpoints.is_reported IS 'Whether the log says that it fails. Reset by the next success.';

CREATE TABLE webhook_deliveries (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  endpoint_id uuid NOT NULL REFERENCES webhook_endpoints(id) ON UPDATE CASCADE ON DELETE CASCADE,
  position bigint NOT NULL REFERENCES domain_events(position) ON UPDATE CASCADE ON DELETE CASCADE,
  subject text NOT NULL,
  status text DEFAULT 'pending' NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  next_attempt_at timestamptz(3) DEFAULT clock_timestamp(),
  last_attempt_at timestamptz(3),
  last_status integer,
  last_error text,
  last_answer text,
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  early_attempts integer DEFAULT 0 NOT NULL,
  previous_attempts jsonb,
  CONSTRAINT webhook_deliveries_only_pending_has_next_attempt CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
  CONSTRAINT webhook_deliveries_status_is_known CHECK (status IN ('pending', 'delivered', 'failed'))
) WITH (fillfactor=80);
CREATE INDEX webhook_deliveries_endpoint_id_created_at_id_idx ON webhook_deliveries(endpoint_id, created_at, id);
CREATE UNIQUE INDEX webhook_deliveries_endpoint_id_position_key ON webhook_deliveries(endpoint_id, position);
-- The list of failed deliveries, few among all.
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (endpoint_id, created_at) WHERE status = 'failed';
-- The list of deliveries with an attempt. Without it, the list passed all that wait for a disabled endpoint.
CREATE INDEX webhook_deliveries_tried ON webhook_deliveries (endpoint_id, created_at, position) WHERE attempts > 0;
-- The deliveries that are still to be sent, few among all; in order within a subject.
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id, subject, position) WHERE status = 'pending';
-- Retention deletes events, and PostgreSQL then looks for the deliveries of each.
CREATE INDEX webhook_deliveries_position_idx ON webhook_deliveries(position);
-- An erasure looks by subject for what an answer may have quoted.
CREATE INDEX webhook_deliveries_subject_idx ON webhook_deliveries(subject);
COMMENT ON TABLE webhook_deliveries IS 'One row per event and endpoint. Inserted when the endpoint''s position passes the event; kept afterwards as the log.';
COMMENT ON COLUMN webhook_deliveries.id IS 'Our id of the delivery.';
COMMENT ON COLUMN webhook_deliveries.endpoint_id IS 'The endpoint to deliver to.';
COMMENT ON COLUMN webhook_deliveries.position IS 'The event, by domain_events.position.';
COMMENT ON COLUMN webhook_deliveries.subject IS 'The subject of the event, within which an endpoint gets events in order.';
COMMENT ON COLUMN webhook_deliveries.status IS 'pending: to be sent, or sent again. delivered: a 2xx was returned. failed: given up after the whole schedule; can be sent again on request.';
COMMENT ON COLUMN webhook_deliveries.attempts IS 'How often it was sent since it was inserted or requested again.';
COMMENT ON COLUMN webhook_deliveries.next_attempt_at IS 'Earliest time of the next attempt, by its own retry schedule. Null unless pending. webhook_subjects.due_at says when it is sent.';
COMMENT ON COLUMN webhook_deliveries.last_attempt_at IS 'When it was last sent. Null: never.';
COMMENT ON COLUMN webhook_deliveries.last_status IS 'HTTP status of the last response. Null: none.';
COMMENT ON COLUMN webhook_deliveries.last_error IS 'Why the last attempt failed. Null if it succeeded.';
COMMENT ON COLUMN webhook_deliveries.last_answer IS 'The first kilobyte of the last response''s body. Null: none, and after an erasure.';
COMMENT ON COLUMN webhook_deliveries.previous_attempts IS 'The attempts before the last one, the latest first, at most 20: attemptedAt, status, error, answer. Null: none, and after an erasure.';
COMMENT ON COLUMN webhook_deliveries.created_at IS 'When it was inserted.';
COMMENT ON COLUMN webhook_deliveries.early_attempts IS 'How many of the attempts were made before their time by the retry schedule. They do not count towards it.';

-- One row that is written with every page; room for its versions keeps them in its page.
CREATE TABLE broker_positions (
  name text PRIMARY KEY,
  read_to bigint DEFAULT 0 NOT NULL,
  lease_token uuid,
  lease_until timestamptz(3),
  due_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  failing_since timestamptz(3),
  last_error text,
  published_at timestamptz(3),
  warnings text[] DEFAULT ARRAY[]::text[],
  CONSTRAINT broker_positions_failing_has_reason CHECK ((failing_since IS NULL) = (last_error IS NULL)),
  CONSTRAINT broker_positions_lease_ends CHECK ((lease_token IS NULL) = (lease_until IS NULL)),
  CONSTRAINT broker_positions_warnings_is_a_list CHECK (warnings IS NOT NULL)
) WITH (fillfactor=20);
COMMENT ON TABLE broker_positions IS 'The position of each message broker in the events; one row per kind of broker, inserted when a process first starts with one. Delete it to publish everything again, or once the broker is no longer used.';
COMMENT ON COLUMN broker_positions.name IS 'Kind of the broker: nats.';
COMMENT ON COLUMN broker_positions.read_to IS 'domain_events.sequence up to which the broker has confirmed the events.';
COMMENT ON COLUMN broker_positions.lease_token IS 'Random id of the process that publishes; only it moves the position. Null without a lease.';
COMMENT ON COLUMN broker_positions.lease_until IS 'Until when the lease is valid. Null without a lease.';
COMMENT ON COLUMN broker_positions.due_at IS 'When a process publishes next. Infinite while it is leased.';
COMMENT ON COLUMN broker_positions.failing_since IS 'Since when the broker has accepted no event. Null while it accepts them.';
COMMENT ON COLUMN broker_positions.last_error IS 'Why the broker accepts no event, without secrets. Null while it accepts them.';
COMMENT ON COLUMN broker_positions.published_at IS 'When the broker last confirmed an event. Null: never.';
COMMENT ON COLUMN broker_positions.warnings IS 'Settings of the broker by which it may lose events, found when a process last connected. Empty: none.';

-- Rows live for a moment, so dead ones are many: vacuum early, and leave room to update in place.
CREATE TABLE webhook_subjects (
  endpoint_id uuid NOT NULL REFERENCES webhook_endpoints(id) ON UPDATE CASCADE ON DELETE CASCADE,
  subject text NOT NULL,
  due_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT webhook_subjects_pkey PRIMARY KEY (endpoint_id, subject)
) WITH (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX webhook_subjects_endpoint_id_due_at_idx ON webhook_subjects(endpoint_id, due_at);
COMMENT ON TABLE webhook_subjects IS 'The queue of deliveries: one row per endpoint and subject with pending deliveries. Only the first of them can be sent; the others wait behind it.';
COMMENT ON COLUMN webhook_subjects.endpoint_id IS 'The endpoint to send to.';
COMMENT ON COLUMN webhook_subjects.subject IS 'The subject of the events, which are sent one at a time and in order.';
COMMENT ON COLUMN webhook_subjects.due_at IS 'When the first pending delivery can be sent: at once, or after the wait of its retry. Nothing is sent before the quiet period of the endpoint ends.';

CREATE TABLE idempotency_keys (
  id text PRIMARY KEY,
  response_ciphertext bytea NOT NULL,
  subjects text[] DEFAULT ARRAY[]::text[],
  lease_token uuid,
  lease_until timestamptz(3),
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT idempotency_keys_id_is_sha256 CHECK (id ~ '^[A-Za-z0-9_-]{43}$'),
  CONSTRAINT idempotency_keys_lease CHECK ((lease_token IS NULL) = (lease_until IS NULL))
);
-- Deletion by age, and erasure of a person.
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_subjects_idx ON idempotency_keys USING gin (subjects);
COMMENT ON TABLE idempotency_keys IS 'Requests with an Idempotency-Key that are executed or have succeeded, and sign-ins of the console that are used. Deleted after 24 hours.';
COMMENT ON COLUMN idempotency_keys.id IS 'SHA-256 of API key id, method, route and Idempotency-Key together, as base64url.';
COMMENT ON COLUMN idempotency_keys.response_ciphertext IS 'The hash of the body of the request; then also its response, or the result from which its handler makes the response. JSON {"request", "response" or "result"}, encrypted and bound to this row. Empty after an erasure.';
COMMENT ON COLUMN idempotency_keys.subjects IS 'The ids in the path and the response. An erasure of a person empties the rows that have an id of the person.';
COMMENT ON COLUMN idempotency_keys.lease_token IS 'Random id of the execution; its outcome is stored only under the same token. Null once it has one.';
COMMENT ON COLUMN idempotency_keys.lease_until IS 'Until when the lease of the execution is valid; its process renews it. After that, a repetition of the request is executed.';
COMMENT ON COLUMN idempotency_keys.created_at IS 'When the request was executed first.';

CREATE TABLE deployment (
  home text PRIMARY KEY
);
COMMENT ON TABLE deployment IS 'Where this database lives, so that a copy of it is recognised. One row, inserted at the first start; the row of another database is added if its data are loaded.';
COMMENT ON COLUMN deployment.home IS 'Identifies the PostgreSQL cluster, the database and this table. If any row has another value, this is a restored dump or a copy, and the service refuses to start on it.';

CREATE TABLE restores (
  id serial PRIMARY KEY,
  references_checked_at timestamptz(3),
  last_sequence bigint NOT NULL,
  first_sequence bigint NOT NULL
);
COMMENT ON TABLE restores IS 'The restores of backups that an operator confirmed.';
COMMENT ON COLUMN restores.id IS 'Counts the restores.';
COMMENT ON COLUMN restores.references_checked_at IS 'When an operator confirmed that everything registered after the backup was found. Until then, new registrations wait for a person.';
COMMENT ON COLUMN restores.last_sequence IS 'The newest sequence of the feed in the backup. 0 if there was none.';
COMMENT ON COLUMN restores.first_sequence IS 'New events get sequences above this one, so that no sequence is used twice.';

CREATE TABLE request_tokens (
  id boolean DEFAULT true PRIMARY KEY,
  drawn_until timestamptz(6) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT request_tokens_is_one_row CHECK (id)
);
INSERT INTO request_tokens DEFAULT VALUES;
COMMENT ON TABLE request_tokens IS 'The tokens of SCS_MAX_REQUESTS_PER_SECOND, which all replicas share: one row. A replica whose calls wait draws the next tokens, at most those of 250 ms. Unused without such a ceiling.';
COMMENT ON COLUMN request_tokens.id IS 'Always true: there is one row.';
COMMENT ON COLUMN request_tokens.drawn_until IS 'The end of the time whose tokens are drawn.';

CREATE TABLE tasks (
  name text PRIMARY KEY,
  once text NOT NULL CHECK (once IN ('process', 'deployment')),
  every_ms bigint NOT NULL,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  last_error text,
  due_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  lease_token uuid,
  lease_until timestamptz(3)
);
COMMENT ON TABLE tasks IS 'What recurs, one row per task. Written by the processes that run it.';
COMMENT ON COLUMN tasks.name IS 'The task, as the code declares it.';
COMMENT ON COLUMN tasks.once IS 'process: each process that has the task runs it. deployment: one process at a time runs it, under a lease.';
COMMENT ON COLUMN tasks.every_ms IS 'The pause between two runs. A task that asks whether it has work runs only if it has.';
COMMENT ON COLUMN tasks.started_at IS 'When it last began to run. Of a task of each process, in any of them and as of the last minute.';
COMMENT ON COLUMN tasks.ended_at IS 'When the last run ended. Null while it runs, and for tasks of each process.';
COMMENT ON COLUMN tasks.last_error IS 'Why the last run of a task of the deployment failed. Null if it did not.';
COMMENT ON COLUMN tasks.due_at IS 'When a task of the deployment runs again. Infinite while it runs.';
COMMENT ON COLUMN tasks.lease_token IS 'The lease of the process that runs a task of the deployment. Null if none does.';
COMMENT ON COLUMN tasks.lease_until IS 'When the lease ends, unless it is renewed. Another process then runs the task.';

CREATE TABLE read_budget (
  id boolean DEFAULT true PRIMARY KEY,
  stretch double precision DEFAULT 1 NOT NULL,
  wanted_per_second double precision DEFAULT 0 NOT NULL,
  measure_after timestamptz(3),
  allowed_per_second double precision,
  short_since timestamptz(3),
  announced_at timestamptz(3),
  CONSTRAINT read_budget_is_one_row CHECK (id),
  CONSTRAINT read_budget_stretch_is_at_least_1 CHECK (stretch >= 1)
);
INSERT INTO read_budget DEFAULT VALUES;
COMMENT ON TABLE read_budget IS 'By how much all intervals between reads are longer than planned, so that the reads fit the budget. One row, written by one worker every few seconds.';
COMMENT ON COLUMN read_budget.id IS 'Always true: there is one row.';
COMMENT ON COLUMN read_budget.stretch IS 'Every planned interval is multiplied by this. 1: all reads fit the budget.';
COMMENT ON COLUMN read_budget.wanted_per_second IS 'Reads per second that all watched sessions would take at stretch 1.';
COMMENT ON COLUMN read_budget.measure_after IS 'When the sessions are counted again, which may take at most 2 % of the time. Null before the first time.';
COMMENT ON COLUMN read_budget.allowed_per_second IS 'Reads per second to which the stretch leads. Null without SCS_MAX_REQUESTS_PER_SECOND.';
COMMENT ON COLUMN read_budget.short_since IS 'Since when the stretch has been above the bound of remote.budget_short. Null if it is not.';
COMMENT ON COLUMN read_budget.announced_at IS 'When remote.budget_short was announced. Null if it was not, or is over.';

CREATE TABLE read_habits (
  brand text NOT NULL,
  phase text NOT NULL,
  age smallint NOT NULL,
  changed integer NOT NULL,
  ended integer NOT NULL,
  seconds double precision NOT NULL,
  CONSTRAINT read_habits_pkey PRIMARY KEY (brand, phase, age),
  CONSTRAINT read_habits_counts_fit CHECK (changed BETWEEN 0 AND ended AND age >= 0 AND seconds >= 0),
  CONSTRAINT read_habits_phase_is_learned CHECK (phase IN ('awaiting_owner', 'awaiting_installation', 'late'))
);
COMMENT ON TABLE read_habits IS 'How long the sessions of a brand stayed in a phase, by groups of ages, counted from session_transitions once a day. Two groups for each factor e. Counts alone, so an erasure leaves them.';
COMMENT ON COLUMN read_habits.brand IS 'The brand of the sessions. Sessions without a brand are not counted.';
COMMENT ON COLUMN read_habits.phase IS 'Why the sessions were watched: awaiting_owner, awaiting_installation, or late (expired or lost).';
COMMENT ON COLUMN read_habits.age IS 'The group of ages: twice the natural logarithm of the seconds since the phase began, rounded down.';
COMMENT ON COLUMN read_habits.changed IS 'Stays in the phase that ended at this age by a change that somebody waits for.';
COMMENT ON COLUMN read_habits.ended IS 'Stays in the phase that ended at this age, or have reached it and continue.';
COMMENT ON COLUMN read_habits.seconds IS 'How long the stays counted in ended lasted beyond the youngest age of the group, added up.';

CREATE TABLE brand_waits (
  brand text PRIMARY KEY,
  p50_seconds double precision NOT NULL,
  p95_seconds double precision NOT NULL,
  known integer NOT NULL,
  CONSTRAINT brand_waits_times_fit CHECK (0 <= p50_seconds AND p50_seconds <= p95_seconds AND known > 0)
);
COMMENT ON TABLE brand_waits IS 'How long the sessions of a brand waited for their installation, counted with read_habits. Brands with too few known sessions have no row. Counts alone, so an erasure leaves them.';
COMMENT ON COLUMN brand_waits.brand IS 'The brand of the sessions. Sessions without a brand are not counted.';
COMMENT ON COLUMN brand_waits.p50_seconds IS 'The time from awaiting_installation to online within which half of them came online.';
COMMENT ON COLUMN brand_waits.p95_seconds IS 'The time within which 95 % of them came online.';
COMMENT ON COLUMN brand_waits.known IS 'How many sessions were counted.';

CREATE TABLE brand_outages (
  brand text PRIMARY KEY,
  since timestamptz(3) NOT NULL,
  failing integer NOT NULL,
  read integer NOT NULL,
  checked_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT brand_outages_most_fail CHECK (0 <= read AND read <= failing)
);
COMMENT ON TABLE brand_outages IS 'The brands of which most of the newest sessions can not be read now, while those of others are. One worker finds them every few seconds (src/brands/brands.store.ts). Owners do not begin with them meanwhile.';
COMMENT ON COLUMN brand_outages.brand IS 'The brand of the sessions, as it was given at their start.';
COMMENT ON COLUMN brand_outages.since IS 'Since when enough sessions have failed.';
COMMENT ON COLUMN brand_outages.failing IS 'How many of its newest sessions have failed three times in a row, or once while reads are held back.';
COMMENT ON COLUMN brand_outages.read IS 'How many of them were read at their usual interval.';
COMMENT ON COLUMN brand_outages.checked_at IS 'When a worker last found it. A row that no worker has found for two minutes means nothing.';

-- No foreign key to users: its lock would wait for an erasure, which waits for the sessions that retention has locked.
CREATE TABLE pruned_sessions (
  session_id uuid PRIMARY KEY,
  user_id uuid NOT NULL
);
CREATE INDEX pruned_sessions_user_id_idx ON pruned_sessions(user_id);
COMMENT ON TABLE pruned_sessions IS 'Sessions that retention has deleted, while their events are stored. Read when their user is erased. Deleted with the erasure of the user, or once the session has no events any more.';
COMMENT ON COLUMN pruned_sessions.session_id IS 'The deleted session: the subject of its events.';
COMMENT ON COLUMN pruned_sessions.user_id IS 'The user of the session.';

CREATE TABLE stalls (
  kind text NOT NULL,
  subject uuid NOT NULL,
  cause text NOT NULL,
  since timestamptz(3) NOT NULL,
  evidence jsonb NOT NULL,
  raised_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  user_id uuid,
  tenant_reference text,
  grid_location_id uuid,
  brand text,
  campaign_id uuid,
  note text,
  assignee text,
  snoozed_until timestamptz(3),
  CONSTRAINT stalls_pkey PRIMARY KEY (kind, subject),
  CONSTRAINT stalls_kind_is_known CHECK (kind IN ('registration', 'start', 'session', 'invitation', 'inverter', 'endpoint'))
);
-- Lists without a filter in SQL.
CREATE INDEX stalls_since_subject_idx ON stalls(since, subject);
-- A list takes the oldest of each cause, and merges them.
CREATE INDEX stalls_kind_cause_since_subject_idx ON stalls(kind, cause, since, subject);
CREATE INDEX stalls_brand_kind_cause_since_subject_idx ON stalls(brand, kind, cause, since, subject);
CREATE INDEX stalls_campaign_id_kind_cause_since_subject_idx ON stalls(campaign_id, kind, cause, since, subject);
CREATE INDEX stalls_user_id_idx ON stalls(user_id);
CREATE INDEX stalls_tenant_reference_idx ON stalls(tenant_reference);
CREATE INDEX stalls_grid_location_id_idx ON stalls(grid_location_id);
COMMENT ON TABLE stalls IS 'What does not continue by itself, one row for each subject. One worker at a time looks at a subject and writes its row with the event (src/stalls). No foreign keys, because a subject is in one of several tables: the worker deletes the row of a deleted subject.';
COMMENT ON COLUMN stalls.kind IS 'What the subject is: registration, start, session, invitation, inverter or endpoint.';
COMMENT ON COLUMN stalls.subject IS 'Id of the subject.';
COMMENT ON COLUMN stalls.cause IS 'Why it does not continue; stall_causes has the meaning.';
COMMENT ON COLUMN stalls.since IS 'When the trouble began. It counts as a stall only after the threshold of its cause.';
COMMENT ON COLUMN stalls.evidence IS 'What was found, and the threshold. No personal data; lastError may quote the remote service or a receiver.';
COMMENT ON COLUMN stalls.raised_at IS 'When the cause was announced.';
COMMENT ON COLUMN stalls.user_id IS 'The user of the subject. Null if it has none, or several. No foreign key: an erasure deletes the row.';
COMMENT ON COLUMN stalls.tenant_reference IS 'The tenant''s own name for the customer of the subject. Null if it has none.';
COMMENT ON COLUMN stalls.grid_location_id IS 'The grid location of the subject. Null if it has none.';
COMMENT ON COLUMN stalls.brand IS 'The inverter brand of the subject. Null if it has none.';
COMMENT ON COLUMN stalls.campaign_id IS 'The campaign that brought the customer. Null if none did.';
COMMENT ON COLUMN stalls.note IS 'What a person has noted. Kept while the subject is stalled, whatever its cause. Null: nothing.';
COMMENT ON COLUMN stalls.assignee IS 'Who works on it, as a person has entered. Kept like the note. Null: nobody.';
COMMENT ON COLUMN stalls.snoozed_until IS 'Until when a person wants to leave it. Cleared when the cause, since or evidence changes. Null: not snoozed.';

-- Rows are only added to (each change of stalls adds its difference) and merged (src/stalls/stalls.sql.ts), so transactions that change the
-- same cause do not wait for each other, and the sums are true for every snapshot.
CREATE TABLE stall_counts (
  id bigserial PRIMARY KEY,
  kind text NOT NULL,
  cause text NOT NULL,
  hour timestamptz(3) NOT NULL,
  difference integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
COMMENT ON TABLE stall_counts IS 'How many stalls there are: the sum of difference. Written by triggers of stalls, so that counting a million needs no scan. Has several rows for the same kind, cause and hour until they are merged.';
COMMENT ON COLUMN stall_counts.id IS 'Names the row for the statement that merges it.';
COMMENT ON COLUMN stall_counts.kind IS 'As in stalls.';
COMMENT ON COLUMN stall_counts.cause IS 'As in stalls.';
COMMENT ON COLUMN stall_counts.hour IS 'The hour in which the trouble began; -infinity if that is more than a day ago.';
COMMENT ON COLUMN stall_counts.difference IS 'By how many stalls the number has changed; negative if there are fewer.';

CREATE FUNCTION stall_hour(since timestamptz) RETURNS timestamptz LANGUAGE sql STABLE
RETURN CASE WHEN since > now() - interval '25 hours' THEN date_trunc('hour', since, 'UTC') ELSE '-infinity' END;
COMMENT ON FUNCTION stall_hour(since timestamptz) IS 'The hour of stall_counts for this instant. Keeps each hour for a day and one hour.';

CREATE FUNCTION count_stalls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO stall_counts (kind, cause, hour, difference)
    SELECT kind, cause, stall_hour(since), count(*) FROM added GROUP BY 1, 2, 3;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO stall_counts (kind, cause, hour, difference)
    SELECT kind, cause, stall_hour(since), -count(*) FROM removed GROUP BY 1, 2, 3;
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION count_stalls() IS 'Trigger: adds the difference that a statement makes in stalls to stall_counts.';
CREATE TRIGGER count_stalls_of_inserted AFTER INSERT ON stalls REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_stalls();
CREATE TRIGGER count_stalls_of_updated AFTER UPDATE ON stalls REFERENCING NEW TABLE AS added OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_stalls();
CREATE TRIGGER count_stalls_of_deleted AFTER DELETE ON stalls REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_stalls();

CREATE TABLE stall_looks (
  kind text NOT NULL,
  subject uuid NOT NULL,
  look_at timestamptz(3) DEFAULT date_trunc('milliseconds', clock_timestamp()) NOT NULL,
  CONSTRAINT stall_looks_pkey PRIMARY KEY (kind, subject)
) WITH (fillfactor=85, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
CREATE INDEX stall_looks_look_at_idx ON stall_looks(look_at);
COMMENT ON TABLE stall_looks IS 'When the rule of a subject decides next whether it is stalled. A change of a subject makes it due by a trigger; a subject that only a change can stall has no row. A table of its own, because a read of a session without news must not write more than its poll.';
COMMENT ON COLUMN stall_looks.kind IS 'As in stalls.';
COMMENT ON COLUMN stall_looks.subject IS 'As in stalls.';
COMMENT ON COLUMN stall_looks.look_at IS 'When a worker looks at the subject. Truncated by default: rounded up, a subject would be due after the end of its change.';

CREATE TABLE stall_causes (
  kind text NOT NULL,
  cause text NOT NULL,
  waits_for text NOT NULL,
  urgency text NOT NULL,
  meaning text NOT NULL,
  before text,
  remedies text[],
  CONSTRAINT stall_causes_pkey PRIMARY KEY (kind, cause),
  CONSTRAINT stall_causes_remedies_are_given CHECK (remedies IS NOT NULL)
);
COMMENT ON TABLE stall_causes IS 'The causes of stalls, written by the start of the service from its catalogue.';
COMMENT ON COLUMN stall_causes.kind IS 'As in stalls.';
COMMENT ON COLUMN stall_causes.cause IS 'As in stalls.';
COMMENT ON COLUMN stall_causes.waits_for IS 'Who has to act next: owner, installation, remote_service, tenant, us or nobody.';
COMMENT ON COLUMN stall_causes.urgency IS 'now, soon or later.';
COMMENT ON COLUMN stall_causes.meaning IS 'The cause in one sentence.';
COMMENT ON COLUMN stall_causes.before IS 'What a person has to do before the remedies, or without any. Null: nothing.';
COMMENT ON COLUMN stall_causes.remedies IS 'The operations of the API that end it, by their operationId.';

CREATE TABLE code_guesses (
  subject text PRIMARY KEY,
  clear_at timestamptz(6) NOT NULL
);
COMMENT ON TABLE code_guesses IS 'Limits how often wrong codes of invitations are entered, for all replicas. Rows are deleted once they no longer count.';
COMMENT ON COLUMN code_guesses.subject IS 'Keyed hash of the network of a client, of which nothing else is stored. Empty: the whole deployment.';
COMMENT ON COLUMN code_guesses.clear_at IS 'When none of the entered codes counts any more.';

CREATE TABLE bulk_actions (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  operation_id text NOT NULL,
  arguments jsonb NOT NULL,
  reason text NOT NULL,
  actor text NOT NULL,
  key_id uuid,
  caller_name text NOT NULL,
  caller_scopes text[],
  grant_hash bytea,
  console_until timestamptz(3),
  created_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  finished_at timestamptz(3),
  erased_at timestamptz(3),
  lease_token uuid,
  lease_until timestamptz(3),
  due_at timestamptz(3) DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT bulk_actions_lease_is_whole CHECK ((lease_token IS NULL) = (lease_until IS NULL))
);
CREATE INDEX bulk_actions_open_idx ON bulk_actions(due_at) WHERE finished_at IS NULL;
CREATE INDEX bulk_actions_finished_at_idx ON bulk_actions(finished_at);
COMMENT ON TABLE bulk_actions IS 'Operations of the API that a caller wants done for many ids, one after the other (src/bulk).';
COMMENT ON COLUMN bulk_actions.id IS 'Id of the action. Its requests have the id bulk-<id>, also in the audit log.';
COMMENT ON COLUMN bulk_actions.operation_id IS 'The operation, by its operationId.';
COMMENT ON COLUMN bulk_actions.arguments IS 'The body of each request.';
COMMENT ON COLUMN bulk_actions.reason IS 'Why, as the caller has given it.';
COMMENT ON COLUMN bulk_actions.actor IS 'Who acts, as in audit_log.';
COMMENT ON COLUMN bulk_actions.key_id IS 'The key whose present scopes count. Null: the caller has none.';
COMMENT ON COLUMN bulk_actions.caller_name IS 'Name of the caller.';
COMMENT ON COLUMN bulk_actions.caller_scopes IS 'Scopes of a caller without a key. Null with a key.';
COMMENT ON COLUMN bulk_actions.grant_hash IS 'Hash of the settings that gave a caller without a key its scopes: ADMIN_API_KEY, or those of the identity provider. Once they change, it acts no more. Null with a key.';
COMMENT ON COLUMN bulk_actions.console_until IS 'When the session of the console ends in which the caller acts. Null: none.';
COMMENT ON COLUMN bulk_actions.created_at IS 'When it was requested.';
COMMENT ON COLUMN bulk_actions.finished_at IS 'When each id had a result. Null: not yet.';
COMMENT ON COLUMN bulk_actions.erased_at IS 'When a person was erased on whose data it acts. Its reason is cleared then, its arguments at its end. Null: never.';
COMMENT ON COLUMN bulk_actions.lease_token IS 'Random id of the lease of the process that acts. Null without a lease.';
COMMENT ON COLUMN bulk_actions.lease_until IS 'Until when the lease is valid; the process renews it. After that another process may go on.';
COMMENT ON COLUMN bulk_actions.due_at IS 'When a process goes on with it; infinite while it is leased.';

CREATE TABLE bulk_action_items (
  action_id uuid NOT NULL REFERENCES bulk_actions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  ordinal integer NOT NULL,
  target uuid NOT NULL,
  status text DEFAULT 'pending' NOT NULL,
  begun_at timestamptz(3),
  code text,
  detail text,
  done_at timestamptz(3),
  CONSTRAINT bulk_action_items_pkey PRIMARY KEY (action_id, ordinal),
  CONSTRAINT bulk_action_items_status_is_known CHECK (status IN ('pending', 'done', 'skipped', 'failed')),
  CONSTRAINT bulk_action_items_result_is_dated CHECK ((status = 'pending') = (done_at IS NULL))
);
CREATE INDEX bulk_action_items_target_idx ON bulk_action_items(target);
COMMENT ON TABLE bulk_action_items IS 'The ids of a bulk action, each with its result.';
COMMENT ON COLUMN bulk_action_items.action_id IS 'The action.';
COMMENT ON COLUMN bulk_action_items.ordinal IS 'Place in the order of the request.';
COMMENT ON COLUMN bulk_action_items.target IS 'The id.';
COMMENT ON COLUMN bulk_action_items.status IS 'pending, done, skipped (it does not exist, or has changed so that the operation does not apply) or failed.';
COMMENT ON COLUMN bulk_action_items.begun_at IS 'When its operation was first begun. If the process died then, the audit log says whether it was done. Null: not yet.';
COMMENT ON COLUMN bulk_action_items.code IS 'The code of the problem. Null: there was none.';
COMMENT ON COLUMN bulk_action_items.detail IS 'Our own words about the problem, without those of the remote service. Null: there are none.';
COMMENT ON COLUMN bulk_action_items.done_at IS 'When the result was known. Null: not yet.';

-- Makes the changed subjects of a statement due, in the order of their ids, which is the order of their locks. A new start may replace a
-- failed one, and a registration a rejected one. Finds these in their own tables: a stall that is being written is not visible yet.
CREATE FUNCTION look_for_stalls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND TG_ARGV[0] = 'start' THEN
    INSERT INTO stall_looks (kind, subject)
    SELECT 'start', id FROM (
      SELECT id FROM changed
      UNION SELECT s.id FROM session_starts s JOIN changed c ON s.grid_location_id = c.grid_location_id WHERE s.status = 'failed') due ORDER BY id
    ON CONFLICT (kind, subject) DO UPDATE SET look_at = excluded.look_at;
  ELSIF TG_ARGV[0] = 'registration' THEN
    INSERT INTO stall_looks (kind, subject)
    SELECT 'registration', id FROM (
      SELECT id FROM changed
      UNION SELECT r.id FROM registrations r JOIN changed c ON r.tenant_reference = c.tenant_reference WHERE r.status = 'rejected') due ORDER BY id
    ON CONFLICT (kind, subject) DO UPDATE SET look_at = excluded.look_at;
  ELSIF TG_ARGV[0] = 'invitation' THEN
    -- An owner with a live link can repeat a failed start. A new invitation is the reply to a request for one, and its owner may agree after
    -- the consent of an earlier one was withdrawn.
    INSERT INTO stall_looks (kind, subject)
    SELECT kind, id FROM (
      SELECT 'invitation' AS kind, id FROM changed
      UNION SELECT 'start', s.id FROM session_starts s JOIN changed c ON s.grid_location_id = c.grid_location_id WHERE s.status = 'failed'
      UNION SELECT 'invitation', i.id FROM invitations i JOIN changed c ON i.grid_location_id = c.grid_location_id
             WHERE i.renewal_requested_at IS NOT NULL
                OR EXISTS (SELECT FROM consents w WHERE w.invitation_id = i.id AND w.withdrawn_at IS NOT NULL)) due
    ORDER BY kind, id
    ON CONFLICT (kind, subject) DO UPDATE SET look_at = excluded.look_at;
  ELSE
    INSERT INTO stall_looks (kind, subject) SELECT TG_ARGV[0], id FROM changed ORDER BY id
    ON CONFLICT (kind, subject) DO UPDATE SET look_at = excluded.look_at;
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION look_for_stalls() IS 'Trigger: makes the inserted, updated or deleted subjects of the kind TG_ARGV[0] due in stall_looks.';

DO $$
DECLARE
  subjects text[][] := ARRAY[['registrations', 'registration'], ['session_starts', 'start'], ['onboarding_sessions', 'session'], ['invitations', 'invitation']];
  i integer;
BEGIN
  FOR i IN 1 .. array_length(subjects, 1) LOOP
    EXECUTE format('CREATE TRIGGER look_for_stalls_of_inserted AFTER INSERT ON %I REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION look_for_stalls(%L)', subjects[i][1], subjects[i][2]);
    EXECUTE format('CREATE TRIGGER look_for_stalls_of_updated AFTER UPDATE ON %I REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION look_for_stalls(%L)', subjects[i][1], subjects[i][2]);
    EXECUTE format('CREATE TRIGGER look_for_stalls_of_deleted AFTER DELETE ON %I REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION look_for_stalls(%L)', subjects[i][1], subjects[i][2]);
  END LOOP;
END $$;

-- For tables that are written much more often than a rule cares about: the conditions of these triggers cost a claim nothing.
CREATE FUNCTION look_for_stall() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stall_looks (kind, subject)
  VALUES (TG_ARGV[0], (to_jsonb(coalesce(NEW, OLD)) ->> TG_ARGV[1])::uuid)
  ON CONFLICT (kind, subject) DO UPDATE SET look_at = excluded.look_at;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION look_for_stall() IS 'Trigger: makes the subject of the kind TG_ARGV[0], whose id is in column TG_ARGV[1], due in stall_looks.';

-- A single failure, and each further one, changes no stall.
CREATE TRIGGER look_for_stall_of_failing AFTER UPDATE OF failures, not_found, flapping_since ON session_polls FOR EACH ROW
  WHEN ((OLD.failures > 1) <> (NEW.failures > 1) OR (OLD.failures > 2) <> (NEW.failures > 2) OR (OLD.not_found > 1) <> (NEW.not_found > 1)
        OR OLD.flapping_since IS DISTINCT FROM NEW.flapping_since)
  EXECUTE FUNCTION look_for_stall('session', 'session_id');
CREATE TRIGGER look_for_stall_of_unwatched AFTER DELETE ON session_polls FOR EACH ROW
  EXECUTE FUNCTION look_for_stall('session', 'session_id');
CREATE TRIGGER look_for_stall_of_failing AFTER UPDATE OF failing_since, failures, disabled_at ON webhook_endpoints FOR EACH ROW
  WHEN (NEW.handler IS NULL AND (OLD.failing_since IS DISTINCT FROM NEW.failing_since OR OLD.disabled_at IS DISTINCT FROM NEW.disabled_at
        OR (OLD.failures > 1) <> (NEW.failures > 1)))
  EXECUTE FUNCTION look_for_stall('endpoint', 'id');
CREATE TRIGGER look_for_stall_of_deleted AFTER DELETE ON webhook_endpoints FOR EACH ROW
  EXECUTE FUNCTION look_for_stall('endpoint', 'id');

-- Only an inverter that another session lists too can be shared by several customers.
CREATE FUNCTION look_for_shared_inverters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stall_looks (kind, subject)
  SELECT DISTINCT 'inverter', c.id FROM changed c
   WHERE EXISTS (SELECT FROM inverters i WHERE i.id = c.id AND i.session_id <> c.session_id)
      OR EXISTS (SELECT FROM stalls s WHERE s.kind = 'inverter' AND s.subject = c.id)
   ORDER BY c.id
  ON CONFLICT (kind, subject) DO UPDATE SET look_at = excluded.look_at;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION look_for_shared_inverters() IS 'Trigger: makes inverters that several sessions list due in stall_looks.';
CREATE TRIGGER look_for_stalls_of_inserted AFTER INSERT ON inverters REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION look_for_shared_inverters();
CREATE TRIGGER look_for_stalls_of_updated AFTER UPDATE ON inverters REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION look_for_shared_inverters();
CREATE TRIGGER look_for_stalls_of_deleted AFTER DELETE ON inverters REFERENCING OLD TABLE AS changed FOR EACH STATEMENT
  EXECUTE FUNCTION look_for_shared_inverters();

-- Gives events their sequence (src/events/sequence.sql.ts has the reasons). A function, because PostgreSQL compiles and plans a DO block
-- each time: 0.75 ms for one event instead of 0.43 ms. Each connection caches its plan from the first events on, so the plan must suit any
-- number of them: by the index of the events without a sequence, and by primary key. A bitmap scan suits neither, since it marks no dead
-- entry: each call would pass all entries since the last vacuum (32,000 of them: 2.1 ms instead of 0.9 ms).
CREATE FUNCTION sequence_events(wait boolean, only_ids uuid[] DEFAULT NULL) RETURNS int
LANGUAGE plpgsql VOLATILE
SET enable_bitmapscan = off
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  assigned int;
BEGIN
  IF wait THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('pv-onboarding/events.sequence', 0));
  ELSIF NOT pg_try_advisory_xact_lock(hashtextextended('pv-onboarding/events.sequence', 0)) THEN
    RETURN 0;
  END IF;
  -- A VOLATILE function takes a new snapshot here, after the lock: it must see what the previous holder committed.
  UPDATE domain_events AS event
     SET sequence = pending.nth + greatest((SELECT max(sequence) FROM domain_events),
                                           (SELECT first_sequence FROM restores ORDER BY id DESC LIMIT 1), 0)
    -- A feed that nobody has read for long is caught up with in steps, each well within the statement timeout.
    FROM unnest(ARRAY(SELECT position FROM domain_events AS event WHERE sequence IS NULL
                         AND (only_ids IS NULL OR id = ANY (only_ids) AND NOT EXISTS (
                               SELECT FROM domain_events AS earlier
                                WHERE earlier.subject = event.subject AND earlier.position < event.position
                                  AND earlier.sequence IS NULL AND earlier.id <> ALL (only_ids)))
                       ORDER BY position LIMIT 10000))
         WITH ORDINALITY AS pending(position, nth)
   WHERE event.position = pending.position;
  GET DIAGNOSTICS assigned = ROW_COUNT;
  IF assigned > 0 THEN
    PERFORM pg_notify('pv_onboarding_events', '');
  END IF;
  RETURN assigned;
END
$$;

COMMENT ON FUNCTION sequence_events(wait boolean, only_ids uuid[]) IS 'Gives at most ten thousand committed events their sequence, announces it on the channel pv_onboarding_events, and returns their number. With only_ids, only these events, without those that follow another event of their subject that has no sequence yet. One call at a time does so: with wait = false, a concurrent call returns at once.';
-- Roles belong to the server, not to the database: several databases may be migrated at once, and the role may exist. On a managed server
-- the migrating user may not be allowed to create a role: it gets a warning then. A user with CREATEROLE that creates a role is not its
-- member (PostgreSQL 15), or is one that may not take it (since 16), so the owner of the schema grants itself the role where it may,
-- for `pv-onboarding psql`. A superuser does not: for a role that several deployments share, it would give each the views of the others.
CREATE FUNCTION admin.grant_reader(reader name DEFAULT 'pv_onboarding_reader') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  schema_owner name := (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'admin');
  database_owner oid := (SELECT datdba FROM pg_database WHERE datname = current_database());
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = reader) THEN
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', reader);
      EXECUTE format('COMMENT ON ROLE %I IS %L', reader,
                     'Reads the views of the schema admin of PV Onboarding and nothing else. Made a member of by admin.add_reader.');
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN
        NULL; -- Another database of this server was a moment faster; unique_violation is what the loser of the race gets.
      WHEN insufficient_privilege THEN
        RAISE WARNING 'the role % does not exist and % may not create it: administrators cannot read the views of the schema admin yet',
          reader, current_user
          USING HINT = format('Run as a role that may: CREATE ROLE %I NOLOGIN; and then as %I, in the database %I: SELECT admin.grant_reader(%L);',
                              reader, schema_owner, current_database(), reader);
        RETURN;
    END;
  END IF;

  EXECUTE format('GRANT USAGE ON SCHEMA admin TO %I', reader);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA admin TO %I', reader);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA admin GRANT SELECT ON TABLES TO %I', schema_owner, reader);

  -- What PUBLIC has by default would let a reader write: temporary tables, and before PostgreSQL 15 tables in public.
  -- CONNECT stays as it is, for whoever else it may serve.
  IF pg_has_role(database_owner, 'USAGE') THEN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), reader);
    IF has_schema_privilege('public', 'public', 'CREATE') THEN
      REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    END IF;
  END IF;

  -- set_option is new in PostgreSQL 16; before, each member may take the role.
  IF current_user = schema_owner
     AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
     AND NOT EXISTS (SELECT FROM pg_auth_members AS m
                      WHERE m.roleid::regrole::text = quote_ident(reader) AND m.member::regrole::text = quote_ident(current_user)
                        AND to_jsonb(m)->>'set_option' IS DISTINCT FROM 'false') THEN
    BEGIN
      EXECUTE format('GRANT %I TO %I', reader, current_user);
    EXCEPTION
      WHEN insufficient_privilege THEN
        NULL; -- `pv-onboarding psql` names the statement for an administrator.
    END;
  END IF;
END $$;

COMMENT ON FUNCTION admin.grant_reader(reader name) IS 'Creates the role if it is missing, and grants it the views of the schema admin. Called by the migrations, and by hand after a restore on another server or for a role of another name.';
-- Settings of a role hold for those who log in as that role, not for its members: so they are given to each login. A transaction
-- that somebody left open overnight keeps the vacuum from session_polls and slows every claim, hence the idle timeout.
CREATE FUNCTION admin.add_reader(login name, reader name DEFAULT 'pv_onboarding_reader') RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('GRANT %I TO %I', reader, login);
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET default_transaction_read_only = on', login, current_database());
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET statement_timeout = ''30s''', login, current_database());
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET idle_in_transaction_session_timeout = ''60s''', login, current_database());
END $$;

COMMENT ON FUNCTION admin.add_reader(name, name) IS 'Makes an existing login a reader: read-only transactions, statements of at most 30 s, idle open transactions of at most 60 s. Its caller must be allowed to grant the reader role.';
REVOKE ALL ON FUNCTION admin.grant_reader(name), admin.add_reader(name, name) FROM PUBLIC;
-- Before the views exist: default privileges grant each of them to the reader.
SELECT admin.grant_reader();

-- Prisma's own table; a database that other means than ours migrate has none.
DO $$
BEGIN
  IF to_regclass('_prisma_migrations') IS NULL THEN RETURN; END IF;
  COMMENT ON TABLE _prisma_migrations IS 'The applied migrations. Written by Prisma and by the start of the service.';
  COMMENT ON COLUMN _prisma_migrations.id IS 'A random UUID.';
  COMMENT ON COLUMN _prisma_migrations.checksum IS 'SHA-256 of the file as it was applied.';
  COMMENT ON COLUMN _prisma_migrations.finished_at IS 'When it was applied. Null if a run by Prisma''s command line has not finished; the next start then applies it.';
  COMMENT ON COLUMN _prisma_migrations.migration_name IS 'Its folder in prisma/migrations.';
  COMMENT ON COLUMN _prisma_migrations.logs IS 'The error of a run by Prisma''s command line. A migration that fails at the start of the service leaves no record; its error is in the log.';
  COMMENT ON COLUMN _prisma_migrations.rolled_back_at IS 'When the start of the service applied it after a run by Prisma''s command line that had not finished. Also set by npx prisma migrate resolve.';
  COMMENT ON COLUMN _prisma_migrations.started_at IS 'When it was begun.';
  COMMENT ON COLUMN _prisma_migrations.applied_steps_count IS 'Prisma''s own count, without meaning for the service.';
END $$;
