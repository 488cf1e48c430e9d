import type pg from 'pg';
import { instant, uuidInSql } from './sessions.js';

/** Rows per statement: limits the duration and the memory of a statement. */
const AT_ONCE = 100_000;

/** Inserts users, each with a grid location and a session that has awaited its owner since `startedAtMs`. No session is due for a day. */
export async function seedSessions(client: pg.Client, sessions: number, startedAtMs: number): Promise<void> {
  // Disables the foreign key checks: they would take most of the time, and the generated rows are valid.
  await client.query(`SET session_replication_role = replica; SET synchronous_commit = off`);
  const started = instant(startedAtMs);
  for (let from = 0; from < sessions; from += AT_ONCE) {
    const range = [from, Math.min(from + AT_ONCE, sessions) - 1];
    await client.query(INSERT_USERS, [...range, started]);
    await client.query(INSERT_LOCATIONS, range);
    await client.query(INSERT_SESSIONS, [...range, started]);
    await client.query(INSERT_POLLS, [...range, started]);
  }
  await client.query(`SET session_replication_role = origin; SET synchronous_commit = on`);
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
}

const ROWS = 'FROM generate_series($1::int, $2::int) AS i';
const USER = uuidInSql('user', 'i');
const LOCATION = uuidInSql('location', 'i');
const SESSION = uuidInSql('session', 'i');

const INSERT_USERS = `
  INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
  SELECT ${USER}, 'customer ' || i, 'tenant', '', '', '', '{}', $3::timestamptz, $3::timestamptz ${ROWS}`;

const INSERT_LOCATIONS = `
  INSERT INTO grid_locations (id, user_id, ean)
  SELECT ${LOCATION}, ${USER}, (541000000000000000 + i)::text ${ROWS}`;

const INSERT_SESSIONS = `
  INSERT INTO onboarding_sessions (id, user_id, grid_location_id, metadata, state, basis, rule, finished, active, expired,
    created_at, updated_at, started_updated_at, expires_at, state_changed_at, last_checked_at)
  SELECT ${SESSION}, ${USER}, ${LOCATION}, '{}', 'awaiting_owner', 'observed', 'as_started', false, true, false,
         $3::timestamptz, $3::timestamptz, $3::timestamptz, $3::timestamptz + interval '1 day', $3::timestamptz, $3::timestamptz ${ROWS}`;

const INSERT_POLLS = `
  INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
  SELECT ${SESSION}, ${USER}, clock_timestamp() + interval '1 day', $3::timestamptz, $3::timestamptz, 'awaiting_owner', $3::timestamptz ${ROWS}`;
