import type { Database } from '../../../src/platform/database/database.js';
import type { SandboxControl } from '../../setup/sandbox/sandbox-control.js';

/** Inserts open, due sessions into the sandbox and the database, without remote calls. Returns their ids. */
export async function seedSessions(database: Database, control: SandboxControl, count: number) {
  const seeded = await control.seed(count);
  const remote = new Map((await control.sessions()).map((session) => [session.sessionId, session]));
  const rows = JSON.stringify(seeded.map((user) => ({ ...user, ...remote.get(user.sessionId) })));
  const from = `FROM jsonb_to_recordset($1::jsonb) AS s("userId" uuid, "tenantReference" text, "gridLocationId" uuid, ean text,
    "sessionId" uuid, "createdAt" timestamptz, "updatedAt" timestamptz, "expiresAt" timestamptz)`;
  await database.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO users (id, tenant_reference, tenant_name, first_name, last_name, email, metadata, created_at, updated_at)
       SELECT "userId", "tenantReference", '', '', '', '', '{}', "createdAt", "createdAt" ${from}`,
      [rows],
    );
    await tx.query(
      `INSERT INTO grid_locations (id, user_id, ean) SELECT "gridLocationId", "userId", ean ${from}`,
      [rows],
    );
    await tx.query(
      `INSERT INTO onboarding_sessions (id, user_id, grid_location_id, metadata, state, basis, rule, finished, active, created_at,
                                        updated_at, expires_at, started_updated_at, state_changed_at, last_checked_at)
       SELECT "sessionId", "userId", "gridLocationId", '{}', 'awaiting_owner', 'observed', 'as_started', false, true, "createdAt",
              "updatedAt", "expiresAt", "updatedAt", clock_timestamp(), clock_timestamp() ${from}`,
      [rows],
    );
    await tx.query(
      `INSERT INTO session_polls (session_id, user_id, due_at, claimed_at, checked_at, phase, anchor_at)
       SELECT "sessionId", "userId", clock_timestamp(), clock_timestamp(), clock_timestamp(), 'awaiting_owner', clock_timestamp()
         ${from}`,
      [rows],
    );
  });
  return seeded.map(({ sessionId }) => sessionId);
}
