import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { changesOf } from '../../setup/changes.js';
import { TestClient } from '../../setup/client.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { startTestProcess } from '../../setup/processes/test-process.js';
import { useTestApp } from '../../setup/test-app.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';

// Processes with the role `api` change nothing by themselves.
const service = useTestApp({ ROLE: 'api' });

const WAITING = `FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** What has happened twice to one thing. */
const DOUBLED = `
  SELECT action AS what FROM audit_log GROUP BY action, target HAVING count(*) > 1
  UNION SELECT name FROM domain_events GROUP BY name, subject HAVING count(*) > 1
  UNION SELECT 'key' FROM api_keys WHERE name = 'later' HAVING count(*) <> 1
  UNION SELECT 'bulk action' FROM bulk_actions HAVING count(*) <> 1
  UNION SELECT 'session' FROM onboarding_sessions GROUP BY grid_location_id, brand HAVING count(*) > 1
  UNION SELECT 'invitation' FROM invitations GROUP BY grid_location_id HAVING count(*) > 1
  ORDER BY what`;
/** What reads something, or sends an event again under its id. */
const HARMLESS = [
  'credentials.probed',
  'invitation.link_read',
  'invitation.sent',
  'webhook_delivery.redelivered',
  'webhook_endpoint.redelivered',
  'webhook_endpoint.tested',
];

it('each POST whose process is killed before it stores the outcome is done once, and its repetition succeeds', async () => {
  const changes = (await changesOf(service)).filter(({ operation }) => operation.startsWith('POST '));
  const requests = changes
    .filter(({ path }) => path !== '/search')
    .map((change) => ({ ...change, key: randomUUID() }));
  const { DATABASE_URL } = service.environment;
  const sql = new pg.Client({ connectionString: DATABASE_URL });
  await sql.connect();
  const [before] = (
    await sql.query<{ campaigns: number }>('SELECT count(*)::int AS campaigns FROM campaigns')
  ).rows;
  const environment = {
    ...testEnvironment(),
    ...service.sandbox!.environment,
    DATABASE_URL,
    ROLE: 'api',
    DATABASE_POOL_SIZE: '60',
  };
  // The first outcome waits until the last one does, which takes seconds.
  const victim = await startTestProcess(
    'test/faults/support/processes/patient-service.process.ts',
    environment,
  );
  const sendTo = (url: string) => {
    const client = new TestClient(url, ADMIN_KEY);
    return Promise.all(
      requests.map(({ path, body, key }) =>
        client.call('POST', path, body, {
          'idempotency-key': key,
          ...(typeof body === 'string' && { 'content-type': 'text/csv' }),
        }),
      ),
    );
  };
  // Each outcome waits for this connection: some in the transaction of the effect, some after it.
  await sql.query(`SELECT pg_advisory_lock(1);
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN new; END';
    CREATE TRIGGER wait BEFORE UPDATE ON idempotency_keys FOR EACH ROW WHEN (new.lease_token IS NULL) EXECUTE FUNCTION wait()`);
  const lost = expect(sendTo(victim.url)).rejects.toThrow('fetch failed');
  await waitFor('all outcomes to be stored', async () => {
    const { rows } = await sql.query(`SELECT ${WAITING}`);
    return rows.length === requests.length;
  });
  await victim.stop('SIGKILL');
  await lost;
  // PostgreSQL would still execute what the victim had sent.
  await sql.query(`SELECT pg_terminate_backend(pid, 5000) ${WAITING}`);
  await sql.query('DROP TRIGGER wait ON idempotency_keys; SELECT pg_advisory_unlock(1)');
  // The leases of the victim end now, and not within 10 s.
  await sql.query(
    `UPDATE idempotency_keys SET lease_until = now() - interval '1 ms' WHERE lease_until IS NOT NULL`,
  );
  const survivor = await startServiceProcess(environment);
  const answers = await sendTo(survivor.url);
  const failed = answers.flatMap(({ status, text }, nth) =>
    status < 300 ? [] : [{ operation: requests[nth]!.operation, text }],
  );
  expect(failed).toEqual([]);
  const again = await sendTo(survivor.url);
  expect(again.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
  expect((await sql.query<{ what: string }>(DOUBLED)).rows.map(({ what }) => what)).toEqual(HARMLESS);
  const { rows } = await sql.query(
    `SELECT count(*)::int AS campaigns FROM campaigns WHERE status <> 'receiving'`,
  );
  expect(rows).toEqual([{ campaigns: before!.campaigns + 1 }]);
  expect(await service.sandbox!.control.users()).toHaveLength(await service.database.prisma.user.count());
  await survivor.stop();
  await sql.end();
}, 300_000);
