/**
 * Returns SQL that inserts sessions. The first `mixed` ones (default: all) are in every state, with every stall cause and every status of a
 * registration. Some of them are special cases: superseded, closed, or stalled although nobody waits for them. All other sessions are
 * online and still watched. No subject is due, so a worker leaves the stalls as they are.
 */
export const seedOf = (sessions: number, mixed = sessions): string => `
  CREATE TEMP TABLE seeds ON COMMIT DROP AS
    SELECT g, md5('user' || g)::uuid AS user_id, md5('location' || g)::uuid AS location_id, md5('session' || g)::uuid AS session_id,
      g <= ${mixed} AS is_mixed, CASE WHEN g > ${mixed} THEN 'online' ELSE (ARRAY['online', 'online', 'online', 'awaiting_owner', 'awaiting_owner', 'awaiting_installation', 'expired', 'lost', 'unrecognised', 'online'])[g % 10 + 1] END AS state
    FROM generate_series(1, ${sessions}) AS g;
  INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata)
    SELECT user_id, 'customer-' || g, '', '', '', '', '{}' FROM seeds;
  INSERT INTO grid_locations (id, user_id, ean) SELECT location_id, user_id, lpad((541448820000000000 + g)::text, 18, '0') FROM seeds;
  INSERT INTO onboarding_sessions (id, user_id, grid_location_id, brand, metadata, state, basis, rule, finished, active, created_at, updated_at,
      expires_at, started_updated_at, state_changed_at, recorded_at, last_checked_at, closed_at, close_reason, superseded_at)
    SELECT session_id, user_id, location_id, 'brand ' || g % 3, '{}', state,
      CASE WHEN state = 'awaiting_installation' THEN 'inferred' ELSE 'observed' END, 'seeded', state = 'online', state = 'awaiting_owner',
      now() - interval '5 days', now() - interval '5 days', now() + interval '5 days', now() - interval '5 days', now() - interval '4 days',
      now() - interval '5 days', now() - interval '1 h', CASE WHEN g % 50 = 1 THEN now() END, CASE WHEN g % 50 = 1 THEN 'settled' END,
      CASE WHEN g % 50 = 3 THEN now() END
    FROM seeds;
  INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
    SELECT session_id, user_id, now() + CASE WHEN is_mixed AND g % 7 = 0 THEN interval '-90 s' ELSE interval '1 h' END, now() - interval '1 h',
      now() - interval '1 h', 'late', now() - interval '5 days'
    FROM seeds WHERE g % 50 NOT IN (1, 3) AND state <> 'lost';
  INSERT INTO stalls (kind, subject, cause, since, evidence)
    SELECT 'session', session_id, CASE state WHEN 'awaiting_owner' THEN (ARRAY['started_not_completed', 'expiring_soon', 'remote_unreachable'])[g % 3 + 1]
      WHEN 'awaiting_installation' THEN 'completed_not_online' ELSE 'unrecognised' END, now() - interval '1 day', '{}'
    FROM seeds WHERE state IN ('awaiting_owner', 'awaiting_installation', 'unrecognised', 'expired') AND g % 4 < 3;
  INSERT INTO inverters (session_id, id, first_seen_at, last_seen_at, missing_since)
    SELECT session_id, md5('inverter' || g || n)::uuid, now() - CASE WHEN is_mixed THEN 3 ELSE g % 700 END * interval '1 day', now(), CASE WHEN is_mixed AND n <= g % 30 / 10 THEN now() END
    FROM seeds, generate_series(1, 2) AS n WHERE state = 'online';
  INSERT INTO registrations (tenant_reference, eans, metadata, status, attempts, next_attempt_at, created_at)
    SELECT 'new-' || g, '{541448820044186577}', '{}', status, 1, CASE status WHEN 'pending' THEN now() + interval '1 h' END,
      now() - (g % 60) * interval '1 h'
    FROM seeds, LATERAL (SELECT (ARRAY['uncertain', 'pending', 'rejected', 'discarded'])[g / 10 % 4 + 1] AS status) s WHERE is_mixed AND g % 10 = 0;
  INSERT INTO stalls (kind, subject, cause, since, evidence)
    SELECT 'registration', id, 'uncertain', created_at, '{"attempts": 1, "lastError": "the response was lost"}' FROM registrations WHERE status = 'uncertain';
  INSERT INTO session_starts (grid_location_id, status, orphans, lease_token, lease_until, updated_at)
    SELECT location_id, CASE WHEN g % 2 = 0 THEN 'failed' ELSE 'sending' END, g % 3, gen_random_uuid(), now() - interval '2 h', now() - interval '2 h'
    FROM seeds WHERE is_mixed AND g % 25 < 2;
  INSERT INTO invitations (grid_location_id, token_hash, brands, metadata, created_at, opened_at, started_at, owner_done_at, online_at, expires_at)
    SELECT location_id, decode(md5('a' || g) || md5('b' || g), 'hex'), '{acme}', '{}', at, CASE WHEN g % 6 > 0 THEN at + interval '1 min' END,
      CASE WHEN g % 6 > 1 THEN at + interval '2 min' END, CASE WHEN g % 6 > 2 THEN at + interval '3 min' END,
      CASE WHEN g % 6 > 3 THEN at + interval '4 min' END, at + interval '90 days'
    FROM seeds, LATERAL (SELECT now() - CASE WHEN is_mixed THEN g % 10 ELSE g % 700 END * interval '1 day' - interval '5 min' AS at) t WHERE g % 2 = 0;
  DELETE FROM stall_looks;`;
