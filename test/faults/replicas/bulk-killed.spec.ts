import { beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { BulkActionView } from '../../../src/bulk/bulk-actions.dto.js';
import { TestClient } from '../../setup/client.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { useSandbox } from '../../setup/sandbox/sandbox-client.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';

const IDS = 300;

const sandbox = useSandbox();
const database = useTestDatabase();
let sql: pg.Client;

beforeAll(async () => {
  sql = await database.connect();
});

const audits = async (): Promise<string[]> => {
  const { rows } = await sql.query<{ target: string }>(
    `SELECT target FROM audit_log WHERE action = 'registration.discarded'`,
  );
  return rows.map(({ target }) => target);
};

it('a bulk action whose process is killed amid it does each id once', async () => {
  const environment = { ...sandbox.environment, DATABASE_URL: database.url, ROLE: 'api' };
  const victim = await startServiceProcess(environment);
  const { rows } = await sql.query<{ id: string }>(
    `INSERT INTO registrations (tenant_reference, eans, metadata, status, last_error, sent_at)
     SELECT 'of-many-' || n, ARRAY['541448860004178019'], '{}', 'uncertain', 'lost', now() FROM generate_series(1, ${IDS}) n
     RETURNING id`,
  );
  const { body } = await new TestClient(victim.url, ADMIN_KEY).call<BulkActionView>('POST', '/bulk-actions', {
    operationId: 'discardRegistration',
    ids: rows.map(({ id }) => id),
    reason: 'Registered twice.',
  });
  // While the row of an id is locked, its operation commits, and its result cannot be written.
  const locked = await waitFor('the last id of a batch', async () => {
    await sql.query('BEGIN');
    const { rows: begun } = await sql.query<{ target: string }>(
      `SELECT target FROM bulk_action_items WHERE status = 'pending' AND begun_at IS NOT NULL ORDER BY ordinal DESC LIMIT 1 FOR UPDATE`,
    );
    if (begun.length === 0) await sql.query('ROLLBACK');
    return begun[0]?.target;
  });
  await waitFor('it to be done', async () => (await audits()).includes(locked));
  await victim.stop('SIGKILL');
  // PostgreSQL would still execute what the victim had sent.
  await sql.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await sql.query('ROLLBACK');
  expect((await audits()).length).toBeLessThan(IDS);
  const survivor = await startServiceProcess(environment);
  // The lease of the victim ends now, and not in 30 s.
  await sql.query(
    `UPDATE bulk_actions SET lease_until = now() - interval '1 ms', due_at = now() - interval '1 ms' WHERE lease_token IS NOT NULL`,
  );
  const client = new TestClient(survivor.url, ADMIN_KEY);
  const read = async () => (await client.call<BulkActionView>('GET', `/bulk-actions/${body.id}`)).body;
  await waitFor('the action to end', async () => (await read()).finishedAt !== null, 180_000);
  expect((await read()).counts).toEqual({ pending: 0, done: IDS, skipped: 0, failed: 0 });
  expect((await audits()).sort()).toEqual(rows.map(({ id }) => id).sort());
  await survivor.stop();
}, 300_000);
