import { asTable, INVITATIONS, REGISTRATIONS, SESSIONS, totalOf } from './profiles.js';

// The statements run in one transaction for each part of the population. `place`: how many users the database already had.

const ago = (hours: string): string => `now() - (${hours}) * interval '1 hour'`;
const drawn = (range: string): string => ago(`${range}[1] + random() * (${range}[2] - ${range}[1])`);

/** Selects a profile `p` for each number `i`. Numbers in a row have different profiles, so that lists and pages are mixed. */
const profileOf = (profiles: readonly { readonly share: number }[], columns: string): string => {
  const total = totalOf(profiles);
  return `json_to_recordset(${asTable(profiles)}) AS p ("from" int, "to" int, ${columns})
          ON (i * 337) % ${total} BETWEEN p."from" AND p."to"`;
};

/** Tables with triggers that make each inserted subject due. `makeDue` does the same at once, and only for subjects that may be stalled. */
export const WATCHED_TABLES = [
  'registrations',
  'session_starts',
  'onboarding_sessions',
  'invitations',
  'inverters',
];

const RANDOM_HASH = `substring(sha256(gen_random_uuid()::text::bytea) FOR 20)`;

const DRAW_SESSIONS = (from: number, to: number, place: number): string => `
  CREATE TEMP TABLE seeded ON COMMIT DROP AS
  SELECT *, recorded_at + life AS expires_at, recorded_at - (1 + random() * 480) * interval '1 hour' AS registered_at,
         greatest(recorded_at, coalesce(closed_at, failing_at - interval '5 minutes', now() - random() * interval '15 minutes')) AS checked_at
    FROM (SELECT *, changed_at + closed_after AS closed_at,
                 CASE state WHEN 'awaiting_owner' THEN changed_at WHEN 'expired' THEN changed_at - interval '24 hours'
                            ELSE changed_at - interval '1 minute' - random() * interval '20 hours' END AS recorded_at
            FROM (SELECT i, (i * 337) % 1000 AS nth, gen_random_uuid() AS user_id, gen_random_uuid() AS location_id, gen_random_uuid() AS session_id,
                         'customer-' || ${place} + i AS reference, (541000000000000000 + ${place} + i)::text AS ean,
                         CASE i % 20000 WHEN 7 THEN 'windmere'
                           ELSE (ARRAY['sunward', 'sunward', 'heliotrope', 'solarix', NULL])[1 + i % 5] END AS brand,
                         p.state, p.rule, p.closed, "closedAfter" * interval '1 hour' AS closed_after,
                         coalesce("lifeDays", 90) * interval '1 day' AS life, coalesce("isUnwatched", false) AS is_unwatched,
                         coalesce("isNotFound", false) AS is_not_found, missing,
                         ${drawn('p.changed')} AS changed_at, ${drawn('p.failing')} AS failing_at, ${drawn('p.flapping')} AS flapping_at,
                         ${drawn('p.missing_since')} AS missing_at
                    FROM generate_series(${from}, ${to}) AS i
                    JOIN (SELECT *, CASE WHEN missing IS NOT NULL THEN
                                   ARRAY[(missing -> 'since' ->> 0)::float8, (missing -> 'since' ->> 1)::float8] END AS missing_since
                            FROM json_to_recordset(${asTable(SESSIONS)}) AS p (
                              "from" int, "to" int, state text, rule text, changed float8[], "lifeDays" int, closed text, "closedAfter" int,
                              "isUnwatched" boolean, failing float8[], "isNotFound" boolean, flapping float8[], missing json)) p
                      ON (i * 337) % ${totalOf(SESSIONS)} BETWEEN p."from" AND p."to") drawn) dated`;

const INSERT_USERS = `
  INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at, registered_at)
  SELECT user_id, reference, 'Supplier', '', '', '', jsonb_build_object('region', 'region ' || i % 20), registered_at, registered_at, registered_at
    FROM seeded`;

const INSERT_LOCATIONS = `INSERT INTO grid_locations (id, user_id, ean) SELECT location_id, user_id, ean FROM seeded`;

/** Every fourth customer came from a campaign: 5,000 in a row that are of one campaign. */
const CAMPAIGN = `md5('campaign ' || i / 20000)::uuid`;

const INSERT_CAMPAIGNS = `
  INSERT INTO campaigns (id, name, status, invites, format, created_at, finished_at)
  SELECT DISTINCT ON (1) ${CAMPAIGN}, 'Campaign ' || i / 20000, 'finished', false, '{}'::jsonb, registered_at, registered_at
    FROM seeded WHERE i % 4 = 0
  ON CONFLICT DO NOTHING`;

const INSERT_REGISTRATIONS = `
  INSERT INTO registrations (tenant_reference, eans, metadata, status, user_id, attempts, sent_at, campaign_id, created_at, updated_at)
  SELECT reference, ARRAY[ean], '{}', 'registered', user_id, 1, registered_at, CASE i % 4 WHEN 0 THEN ${CAMPAIGN} END, registered_at, registered_at
    FROM seeded`;

const INSERT_SESSIONS = `
  INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, expired, created_at,
    updated_at, expires_at, started_updated_at, state_changed_at, recorded_at, changed_at, last_checked_at, closed_at, close_reason)
  SELECT session_id, user_id, location_id, brand, '{}', state, CASE state WHEN 'awaiting_installation' THEN 'inferred' ELSE 'observed' END, rule,
         state IN ('online', 'unrecognised'), state NOT IN ('online', 'expired'), state = 'expired', recorded_at,
         CASE state WHEN 'awaiting_owner' THEN recorded_at ELSE changed_at END, expires_at, recorded_at, changed_at, recorded_at,
         coalesce(closed_at, changed_at), checked_at, closed_at, closed
    FROM seeded`;

/** No session is due for a day, so that the population stays as it is while people look at it. Settled ones are due within a week. */
const INSERT_POLLS = `
  INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at, failures, failing_since, not_found,
    not_found_since, last_error, answer_hash, facts_hash, changes_clear_at, flapping_since)
  SELECT session_id, user_id, now() + interval '1 day' + random() * CASE WHEN closed = 'settled' THEN interval '6 days' ELSE interval '1 hour' END, checked_at,
         greatest(recorded_at, checked_at - interval '15 minutes'),
         CASE state WHEN 'online' THEN CASE WHEN closed_at IS NULL THEN 'settling' ELSE 'watching' END WHEN 'expired' THEN 'late' WHEN 'lost' THEN 'late' ELSE state END, changed_at,
         CASE WHEN failing_at IS NULL THEN 0 WHEN is_not_found THEN 3 ELSE 6 END, failing_at,
         CASE WHEN is_not_found THEN 3 ELSE 0 END, CASE WHEN is_not_found THEN failing_at END,
         CASE WHEN is_not_found THEN 'HTTP 404' WHEN failing_at IS NOT NULL THEN 'HTTP 500' END, ${RANDOM_HASH}, ${RANDOM_HASH},
         CASE WHEN flapping_at IS NOT NULL THEN now() + interval '50 minutes' END, flapping_at
    FROM seeded WHERE (closed_at IS NULL OR closed = 'settled') AND NOT is_unwatched`;

const INSERT_TRANSITIONS = `
  INSERT INTO session_transitions (session_id, from_state, to_state, basis, rule, at)
  SELECT session_id, NULL, 'awaiting_owner', 'observed', 'as_started', recorded_at FROM seeded
  UNION ALL
  SELECT session_id, 'awaiting_owner', state, CASE state WHEN 'awaiting_installation' THEN 'inferred' ELSE 'observed' END, rule, changed_at
    FROM seeded WHERE state <> 'awaiting_owner'`;

/** Each session came from a start. Some locations also have a start that failed before, and some one of another brand that failed later. */
const INSERT_STARTS = `
  INSERT INTO session_starts (grid_location_id, brand, status, attempts, orphans, session_id, last_error, lease_token, lease_until, created_at, updated_at)
  SELECT location_id, brand, 'started', 1, 0, session_id, NULL, gen_random_uuid(), recorded_at + interval '12 seconds', recorded_at, recorded_at
    FROM seeded
  UNION ALL
  SELECT location_id, brand, 'failed', 2, 2, NULL, 'no response within 10 s', gen_random_uuid(), recorded_at - interval '9 minutes',
         recorded_at - interval '10 minutes', recorded_at - interval '9 minutes'
    FROM seeded WHERE i % 200 = 7
  UNION ALL
  SELECT location_id, 'brightway', 'failed', 1, 0, NULL, 'HTTP 403', gen_random_uuid(), failed_at, failed_at, failed_at
    FROM (SELECT *, least(greatest(recorded_at, now() - interval '20 days') + random() * interval '1 day', now()) AS failed_at FROM seeded) failed
   WHERE i % 200 = 3`;

/** Of 1,000 customers, 6 share an inverter. */
const INSERT_INVERTERS = `
  INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at, missing_since)
  SELECT session_id, CASE WHEN nth BETWEEN 400 AND 405 AND number = 1 THEN md5('shared ' || reference_block)::uuid ELSE gen_random_uuid() END,
         changed_at, CASE WHEN is_missing THEN missing_at - interval '10 minutes' ELSE checked_at END, CASE WHEN is_missing THEN missing_at END
    FROM (SELECT *, missing IS NOT NULL AND (number = 1 OR (missing ->> 'all')::boolean) AS is_missing,
                 (min(user_id::text) OVER (PARTITION BY i / 1000)) AS reference_block
            FROM seeded, generate_series(1, CASE WHEN missing IS NULL THEN 1 + i % 2 ELSE 2 END) AS number
           WHERE state = 'online') listed`;

/** Whether the owner of a session has withdrawn the consent. */
const IS_WITHDRAWN = `state = 'online' AND i % 100 = 1`;

const INSERT_FOLLOWED_INVITATIONS = `
  INSERT INTO invitations (grid_location_id, token_hash, brands, metadata, wish_brand, wished_at, awaits, awaits_since, created_at, opened_at,
    started_at, owner_done_at, online_at, expires_at, reminder_due_at, declined_at)
  SELECT location_id, sha256(gen_random_uuid()::text::bytea), CASE WHEN brand IS NULL THEN '{}' ELSE ARRAY[brand] END, '{}', brand, recorded_at,
         CASE state WHEN 'awaiting_owner' THEN 'finish' ELSE 'installation' END, changed_at, recorded_at - interval '50 minutes',
         recorded_at - interval '5 minutes', recorded_at, CASE WHEN state <> 'awaiting_owner' THEN changed_at END,
         CASE state WHEN 'online' THEN changed_at END, recorded_at + interval '90 days',
         CASE WHEN state <> 'online' THEN now() + interval '1 day' END, CASE WHEN ${IS_WITHDRAWN} THEN now() END
    FROM seeded WHERE i % 10 = 1 AND state IN ('awaiting_owner', 'awaiting_installation', 'online')`;

const INSERT_CONSENTS = `
  WITH text AS (INSERT INTO consent_texts (hash, version, locale, text) VALUES ('seeded', '1', 'en', 'Agreed.') ON CONFLICT DO NOTHING)
  INSERT INTO consents (invitation_id, text_hash, brand, given_at, withdrawn_at)
  SELECT v.id, 'seeded', v.wish_brand, v.wished_at, v.declined_at FROM invitations v JOIN seeded ON location_id = v.grid_location_id`;

/** Inserts the subjects $1 to $2, and everything about them. */
export const sessionStatements = (from: number, to: number, place: number): readonly string[] => [
  DRAW_SESSIONS(from, to, place),
  INSERT_USERS,
  INSERT_LOCATIONS,
  INSERT_CAMPAIGNS,
  INSERT_REGISTRATIONS,
  INSERT_SESSIONS,
  INSERT_POLLS,
  INSERT_TRANSITIONS,
  INSERT_STARTS,
  INSERT_INVERTERS,
  INSERT_FOLLOWED_INVITATIONS,
  INSERT_CONSENTS,
  makeDue(
    'session',
    `SELECT session_id FROM seeded WHERE closed_at IS NULL OR closed = 'lost' OR closed = 'settled' AND missing IS NOT NULL`,
  ),
  makeDue(
    'start',
    `SELECT s.id FROM session_starts s JOIN seeded ON location_id = s.grid_location_id WHERE s.status = 'failed'`,
  ),
  makeDue(
    'invitation',
    `SELECT v.id FROM invitations v JOIN seeded ON location_id = v.grid_location_id WHERE v.online_at IS NULL OR ${IS_WITHDRAWN}`,
  ),
  makeDue(
    'inverter',
    `SELECT DISTINCT id FROM inverters WHERE session_id IN (SELECT session_id FROM seeded WHERE nth BETWEEN 400 AND 405)`,
  ),
];

const DRAW_INVITATIONS = (from: number, to: number, place: number): string => `
  CREATE TEMP TABLE seeded ON COMMIT DROP AS
  SELECT i, gen_random_uuid() AS user_id, gen_random_uuid() AS location_id, 'customer-' || ${place} + i AS reference,
         (541000000000000000 + ${place} + i)::text AS ean, created_at, created_at - interval '1 hour' AS registered_at, opened_at, failed_at, bounced_at, renewal_at, ended
    FROM (SELECT i, p.ended, ${drawn('p.created')} AS created_at, ${drawn('p.opened')} AS opened_at, ${drawn('p.failed')} AS failed_at,
                 ${drawn('p.bounced')} AS bounced_at, ${drawn('p.renewal')} AS renewal_at
            FROM generate_series(${from}, ${to}) AS i
            JOIN ${profileOf(INVITATIONS, 'created float8[], opened float8[], failed float8[], bounced float8[], renewal float8[], ended text')}) drawn`;

const INSERT_INVITATIONS = `
  INSERT INTO invitations (grid_location_id, token_hash, brands, metadata, wished_at, wish_failed_at, awaits_since, created_at, opened_at,
    expires_at, expired_at, revoked_at, declined_at, renewal_requested_at, bounced_at, bounced_channel, reminder_due_at)
  SELECT location_id, sha256(gen_random_uuid()::text::bytea), CASE i % 3 WHEN 0 THEN '{}' ELSE ARRAY['sunward'] END, '{}',
         failed_at - interval '1 day', failed_at, created_at, created_at, opened_at, created_at + interval '90 days',
         CASE ended WHEN 'expired' THEN created_at + interval '90 days' END, CASE ended WHEN 'revoked' THEN created_at + interval '5 hours' END,
         CASE ended WHEN 'declined' THEN opened_at END, renewal_at,
         bounced_at, CASE WHEN bounced_at IS NOT NULL THEN 'email' END, CASE WHEN ended IS NULL THEN now() + interval '1 day' END
    FROM seeded`;

export const invitationStatements = (from: number, to: number, place: number): readonly string[] => [
  DRAW_INVITATIONS(from, to, place),
  INSERT_USERS,
  INSERT_LOCATIONS,
  INSERT_CAMPAIGNS,
  INSERT_REGISTRATIONS,
  INSERT_INVITATIONS,
  makeDue(
    'invitation',
    `SELECT v.id FROM invitations v JOIN seeded ON location_id = v.grid_location_id WHERE ended IS NULL OR renewal_at IS NOT NULL`,
  ),
];

/** Inserts the registrations without a user, in proportion to `sessions`. Those to be sent are not due for a day. */
export const registrationStatements = (sessions: number, place: number): readonly string[] => [
  `CREATE TEMP TABLE seeded ON COMMIT DROP AS
   SELECT gen_random_uuid() AS id, 'registration-' || ${place} || '-' || p."from" || '-' || nth AS reference, p.*, ${drawn('p.created')} AS created_at
     FROM json_to_recordset(${asTable(REGISTRATIONS)}) AS p ("from" int, "to" int, status text, attempts int, created float8[], "lastError" text),
          generate_series(1, (p."to" - p."from" + 1) * ${Math.ceil(sessions / 1_000)}) AS nth`,
  `INSERT INTO registrations (id, tenant_reference, eans, metadata, status, attempts, last_error, sent_at, next_attempt_at, created_at, updated_at)
   SELECT id, reference, ARRAY[lpad((random() * 1e9)::bigint::text, 18, '542000000000000000')], '{}', status, attempts, "lastError",
          CASE WHEN attempts > 0 THEN created_at END, CASE status WHEN 'pending' THEN now() + interval '1 day' END, created_at, created_at
     FROM seeded`,
  makeDue('registration', 'SELECT id FROM seeded'),
];

export const makeDue = (kind: string, subjects: string): string => `
  INSERT INTO stall_looks (kind, subject) SELECT '${kind}', due.id FROM (${subjects}) AS due (id) ON CONFLICT DO NOTHING`;
