import { beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { BulkActionView } from '../../../src/bulk/bulk-actions.dto.js';
import { TestClient } from '../../setup/client.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { useSandbox } from '../../setup/sandbox/sandbox-client.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { waitForLockWaits } from '../support/waits.js';

const IDS = 300;
/** The place of an id that is done without a result, amid a batch. */
const DONE = 15;

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
  // From this id on, no result can be written while this connection has the lock. The operation of the id commits.
  await sql.query(`SELECT pg_advisory_lock(1);
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN new; END';
    CREATE TRIGGER wait BEFORE UPDATE ON bulk_action_items FOR EACH ROW
      WHEN (new.ordinal >= ${DONE} AND new.status <> 'pending') EXECUTE FUNCTION wait()`);
  const { body } = await new TestClient(victim.url, ADMIN_KEY).call<BulkActionView>('POST', '/bulk-actions', {
    operationId: 'discardRegistration',
    ids: rows.map(({ id }) => id),
    reason: 'Registered twice.',
  });
  await waitForLockWaits(sql);
  await victim.stop('SIGKILL');
  // PostgreSQL would still execute what the victim had sent.
  await sql.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await sql.query('DROP FUNCTION wait CASCADE; SELECT pg_advisory_unlock(1)');
  const done = await audits();
  expect(done).toContain(rows[DONE - 1]!.id);
  expect(done.length).toBeLessThan(IDS);
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
