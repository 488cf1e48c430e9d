/** Statements that generate $1 sessions with rows in the related tables. One session in ten is still watched. */
export const GENERATE_SESSIONS = [
  `CREATE TEMPORARY TABLE generated AS
   SELECT n, gen_random_uuid() AS user_id, gen_random_uuid() AS location_id, gen_random_uuid() AS session_id,
          now() - n * interval '2 minutes' AS at, n % 10 = 0 AS watched
     FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at, registered_at)
   SELECT user_id, 'customer-' || n, 'Supplier', '', '', '', '{}', at, at, at FROM generated`,
  `INSERT INTO grid_locations (id, user_id, ean) SELECT location_id, user_id, (871687400000000000 + n)::text FROM generated`,
  `INSERT INTO registrations (tenant_reference, eans, metadata, status, user_id, attempts, created_at, updated_at)
   SELECT 'customer-' || n, ARRAY[(871687400000000000 + n)::text], '{}', 'registered', user_id, 1, at, at FROM generated`,
  `INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, expired,
          created_at, updated_at, expires_at, started_updated_at, state_changed_at, recorded_at, changed_at, last_checked_at,
          closed_at, close_reason)
   SELECT session_id, user_id, location_id, (ARRAY['Alpha', 'Beta', 'Gamma'])[1 + n % 3], '{}', 'online', 'observed',
          'finished_with_inverters', true, false, false, at, at, at + interval '1 day', at, at, at, at, at,
          CASE WHEN NOT watched THEN at + interval '3 days' END, CASE WHEN NOT watched THEN 'settled' END FROM generated`,
  `INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
   SELECT session_id, user_id, now() + (n % 900 - 5) * interval '1 second', now(), now(), 'settling', at FROM generated WHERE watched`,
  `INSERT INTO session_starts (grid_location_id, brand, status, session_id, lease_token, lease_until, created_at, updated_at)
   SELECT location_id, 'Alpha', 'started', session_id, gen_random_uuid(), at, at, at FROM generated`,
  `INSERT INTO session_observations (session_id, source, http_status, body, hash, observed_at)
   SELECT session_id, source, 200, '{"finished":false,"active":true,"expired":false,"inverters":[]}', '\\x00', at
     FROM generated, unnest(ARRAY['start', 'read']) AS source ORDER BY at`,
  `INSERT INTO session_transitions (session_id, from_state, to_state, basis, rule, observation_id, at)
   SELECT session_id, CASE WHEN source = 'read' THEN 'awaiting_owner' END, CASE WHEN source = 'read' THEN 'online' ELSE 'awaiting_owner' END,
          'observed', 'as_started', o.id, at FROM generated JOIN session_observations o USING (session_id) ORDER BY at`,
  `INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at) SELECT session_id, gen_random_uuid(), at, at FROM generated`,
  `INSERT INTO domain_events (id, sequence, name, subject, data, time)
   SELECT gen_random_uuid(), row_number() OVER (ORDER BY at), name, session_id, '{}', at
     FROM generated, unnest(ARRAY['session.started', 'session.online', 'inverter.online']) AS name ORDER BY at`,
  `INSERT INTO webhook_endpoints (url, types, secret_ciphertext, read_to, created_by)
   SELECT 'https://app.example', '{}', '\\x00', max(sequence), 'cli' FROM domain_events`,
  `INSERT INTO webhook_deliveries (endpoint_id, position, subject, status, attempts, next_attempt_at)
   SELECT e.id, d.position, d.subject, s.status, 1, CASE WHEN s.status = 'pending' THEN now() END
     FROM webhook_endpoints e CROSS JOIN domain_events d
    CROSS JOIN LATERAL (SELECT CASE WHEN d.position % 100 = 0 THEN 'failed' WHEN d.position % 100 = 1 THEN 'pending' ELSE 'delivered' END AS status) AS s`,
  `INSERT INTO webhook_subjects (endpoint_id, subject)
   SELECT DISTINCT endpoint_id, subject FROM webhook_deliveries WHERE status = 'pending'`,
  'ANALYZE',
] as const;
