import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { TestClient } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox.js';
import { startServiceProcess } from '../../setup/service-process.js';
import { createTestDatabase, withDatabase, type TestDatabase } from '../../setup/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookSink } from '../../setup/receivers/webhook-sink.js';
import { endWithin, type Ending } from '../support/evidence/own-time.js';
import { caught, isLong, itAtLength, promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { announce, makeEndpoint } from '../support/webhooks.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

jest.setTimeout(120_000);

/** Latency of each remote call. A first registration makes two calls: one for a token, one for the user. */
const SLOW_MS = 700;
const STOP_WITHIN_MS = 5_000;
/** The time within which the service stops after a second signal. It is shorter than the time that requests have after the first signal. */
const AT_ONCE_MS = 2_000;
const SESSIONS = 20;

describe('R34: stopping is clean', () => {
  let database: TestDatabase;
  let admin: pg.Client;
  let sandbox: TestSandbox;
  let service: TestProcess;
  const closing = closeAfterEach();

  beforeEach(async () => {
    database = await createTestDatabase();
    closing.push(database.drop);
    admin = await database.connect();
    sandbox = await startSandbox();
    closing.push(sandbox.stop);
  });

  const environment = () => ({
    ...testEnvironment(),
    ...sandbox.environment,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'info',
  });
  async function start(begin: Promise<TestProcess> = startServiceProcess(environment())): Promise<void> {
    service = await begin;
    closing.push(() => service.stop('SIGKILL'));
  }
  const register = (reference: string) =>
    new TestClient(service.url, ADMIN_KEY).call('POST', '/users', {
      tenantReference: reference,
      gridLocations: [{ ean: '871685900000000014' }],
    });
  const count = async (statement: string): Promise<number> =>
    Number((await admin.query<{ count: string }>(`SELECT count(*) ${statement}`)).rows[0]!.count);
  const isRegistering = () => waitFor('the request to be under way', async () => (await count(SENT)) > 0);

  const seed = () => withDatabase(database.url, (direct) => seedSessions(direct, sandbox.control, SESSIONS));

  const refusesConnections = () =>
    waitFor('new connections to be refused', () =>
      fetch(`${service.url}/health/live`, { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    );

  it('after a SIGTERM amid a request and reads: the request is answered, every lease given back', async () => {
    await start();
    await sandbox.control.change({ latencyMs: SLOW_MS });
    await seed();
    await waitFor('sessions to be read', async () => (await sandbox.control.ledger()).inFlight > 1);
    const answer = register('in-flight');
    await isRegistering();
    expect(await count(LEASES)).toBeGreaterThan(0);

    service.kill('SIGTERM');
    const [{ ended, tookMs }] = await Promise.all([endWithin(service, STOP_WITHIN_MS), refusesConnections()]);
    const leases = await count(LEASES);
    const held = await count(HELD_JOBS);
    promise('R34', {
      figure: `exit ${ended?.code} ${Math.round(tookMs)} ms after a SIGTERM during a request and reads, ${leases + held} leases left`,
      bound: `0, ${STOP_WITHIN_MS} ms, 0`,
    });
    expect(ended).toEqual({ code: 0, signal: null });
    expect((await answer).status).toBe(201);
    expect([leases, held, await count(HELD_STARTS)]).toEqual([0, 0, 0]);
    expect(await count(`FROM session_polls WHERE failures > 0`)).toBe(0);
  });

  itAtLength(
    'in time amid deliveries to a receiver that does not answer, which are due at once for another',
    async () => {
      const sink = await startWebhookSink();
      closing.push(sink.stop);
      await sink.behave({ '/hook': { hang: 1 } });
      await start();
      await makeEndpoint(new TestClient(service.url, ADMIN_KEY), `${sink.url}/hook`);
      await withDatabase(database.url, (direct) => announce(direct, SESSIONS, 1));
      await waitFor('deliveries to be under way', async () => (await sink.received()).length > 4);

      service.kill('SIGTERM');
      const { ended, tookMs } = await endWithin(service, STOP_WITHIN_MS);
      const held = await count(HELD_JOBS);
      promise('R34', {
        figure: `exit ${ended?.code} ${Math.round(tookMs)} ms after a SIGTERM during deliveries, ${held} jobs held`,
        bound: `0, ${STOP_WITHIN_MS} ms, 0`,
      });
      expect(ended).toEqual({ code: 0, signal: null });
      const due =
        'FROM webhook_deliveries JOIN webhook_subjects USING (endpoint_id, subject) WHERE attempts = 0 AND due_at <= clock_timestamp()';
      const dueJobs = `FROM graphile_worker.jobs WHERE task_identifier = 'webhook' AND run_at <= clock_timestamp()`;
      expect([held, await count(due), await count(dueJobs)]).toEqual([0, SESSIONS, 1]);
    },
  );

  it('is unready first, and serves on for SHUTDOWN_DELAY_MS', async () => {
    // At length, the delay alone is longer than the time within which a process stops.
    const delayMs = isLong ? STOP_WITHIN_MS : 1_500;
    await start(startServiceProcess({ ...environment(), SHUTDOWN_DELAY_MS: String(delayMs) }));
    const signalledAt = performance.now();
    service.kill('SIGTERM');
    const missing = await waitFor('the service is unready', async () => {
      const response = await fetch(`${service.url}/health/ready`);
      return response.status === 503 && ((await response.json()) as { missing: string[] }).missing;
    });
    expect(missing).toEqual(['the service is stopping']);
    expect((await register('served-on')).status).toBe(201);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalledAt).toBeGreaterThan(delayMs - 100);
  });

  itAtLength('in time however long a request takes, and at once after a second signal', async () => {
    await start();
    expect((await endDuringRequest()).ended).toEqual({ code: 0, signal: null });
    await start();
    await sandbox.control.change({ latencyMs: 60_000 });
    const answer = register('forced').catch((error: unknown) => error);
    await isRegistering();
    service.kill('SIGINT');
    const firstAt = performance.now();
    await refusesConnections();
    await waitFor('a further one to be no echo of the first', () => performance.now() - firstAt > 600);
    service.kill('SIGINT');
    expect((await endWithin(service, AT_ONCE_MS)).ended?.code).toBe(130);
    await answer;
  });

  it('turns red with the defaults of Nest', async () => {
    await start(startTestProcess('test/faults/support/processes/nest-defaults.process.ts', environment()));
    expect((await endDuringRequest()).ended).toBeNull();
    caught('R34', 'defaults of Nest');
  });

  async function endDuringRequest(): Promise<Ending> {
    await sandbox.control.change({ latencyMs: 60_000 });
    const answer = register('endless').catch((error: unknown) => error);
    await isRegistering();
    service.kill('SIGTERM');
    const ending = await endWithin(service, STOP_WITHIN_MS);
    await service.stop('SIGKILL');
    await answer;
    return ending;
  }
});

const SENT = 'FROM registrations WHERE sent_at IS NOT NULL';
const LEASES = 'FROM poll_batches';
const HELD_JOBS = 'FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL';
const HELD_STARTS = `FROM session_starts WHERE status = 'sending'`;
