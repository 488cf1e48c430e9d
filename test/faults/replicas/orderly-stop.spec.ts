import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { TestClient } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { createTestDatabase, withDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { startWebhookSink } from '../../setup/receivers/webhook-sink.js';
import { endWithin, stoppedInTime } from '../support/evidence/own-time.js';
import { itAtLength, measureUntil, promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';
import { waitForLockWaits } from '../support/waits.js';
import { announce, makeEndpoint } from '../support/webhooks.js';
import { closeAfterEach } from '../../setup/close-after-each.js';

/** Latency of each remote call. A first registration makes two calls: one for a token, one for the user. */
const SLOW_MS = 700;
const STOP_WITHIN_MS = 5_000;
const SESSIONS = 20;

describe('R34: stopping is clean', () => {
  let database: TestDatabase;
  let admin: pg.Client;
  let sandbox: TestSandbox;
  let service: TestProcess;
  const closing = closeAfterEach();

  /** Starts a service with a database and a sandbox of its own. */
  async function start(
    begin: (environment: Record<string, string>) => Promise<TestProcess> = startServiceProcess,
  ): Promise<void> {
    database = await createTestDatabase();
    closing.push(database.drop);
    admin = await database.connect();
    sandbox = await startSandbox();
    closing.push(sandbox.stop);
    const started = (service = await begin({
      ...testEnvironment(),
      ...sandbox.environment,
      DATABASE_URL: database.url,
      LOG_LEVEL: 'info',
    }));
    closing.push(() => started.stop('SIGKILL'));
  }
  const register = (reference: string) =>
    new TestClient(service.url, ADMIN_KEY).call('POST', '/users', {
      tenantReference: reference,
      gridLocations: [{ ean: '871685900000000014' }],
    });
  const count = async (statement: string): Promise<number> =>
    Number((await admin.query<{ count: string }>(`SELECT count(*) ${statement}`)).rows[0]!.count);
  const waitForCall = (reference: string) =>
    waitFor(
      'the call to be in flight',
      async () => (await count(`${SENT} AND tenant_reference = '${reference}'`)) > 0,
    );

  const seed = () => withDatabase(database.url, (direct) => seedSessions(direct, sandbox.control, SESSIONS));

  const waitForRefusal = () =>
    waitFor('new connections to be refused', () =>
      fetch(`${service.url}/health/live`, { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    );

  const waitForUnready = () =>
    waitFor('the service to be unready, because it stops', async () => {
      const ready = await fetch(`${service.url}/health/ready`);
      const { missing } = (await ready.json()) as { missing: string[] };
      return ready.status === 503 && missing.join() === 'the service is stopping';
    });

  it('after a SIGTERM amid a request and reads: the request gets its response, and every lease is released', async () => {
    const { ended, tookMs, response } = await measureUntil(answeredInTime, async () => {
      await start();
      await sandbox.control.change({ latencyMs: SLOW_MS });
      await seed();
      await waitFor('sessions to be read', async () => (await sandbox.control.ledger()).inFlight > 1);
      const sent = register('in-flight').catch(() => null);
      await waitForCall('in-flight');
      await waitFor('sessions to be leased', async () => (await count(LEASES)) > 0);

      service.kill('SIGTERM');
      const [ending] = await Promise.all([endWithin(service, STOP_WITHIN_MS), waitForRefusal()]);
      return { service, ...ending, response: await sent };
    });
    const leases = await count(LEASES);
    const locked = await count(LEASED_ENDPOINTS);
    promise('R34', {
      figure: `exit ${ended?.code} ${Math.round(tookMs)} ms after a SIGTERM during a request and reads, ${leases + locked} leases left`,
      bound: `0, ${STOP_WITHIN_MS} ms, 0`,
    });
    expect(ended).toEqual({ code: 0, signal: null });
    expect(response?.status).toBe(201);
    expect([leases, locked, await count(SENDING_STARTS)]).toEqual([0, 0, 0]);
    expect(await count(`FROM session_polls WHERE failures > 0`)).toBe(0);
  });

  it('amid a claim of sessions: they are released', async () => {
    const { ended } = await measureUntil(stoppedInTime, async () => {
      await start((environment) => startServiceProcess({ ...environment, ROLE: 'worker' }));
      // Delays the release, so that a shutdown that does not wait for it ends before.
      await admin.query(`
        CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.4); RETURN NULL; END';
        CREATE TRIGGER delayed AFTER UPDATE ON session_polls EXECUTE FUNCTION delay()`);
      await admin.query('BEGIN');
      await admin.query('LOCK TABLE poll_batches IN SHARE MODE');
      await seed();
      // A claim is in flight.
      await waitForLockWaits(admin);
      service.kill('SIGTERM');
      await waitForUnready();
      await admin.query('COMMIT');
      return { service, ...(await endWithin(service, STOP_WITHIN_MS)) };
    });
    expect(ended).toEqual({ code: 0, signal: null });
    expect(await count(LEASES)).toBe(0);
    expect(await count('FROM session_polls WHERE failures > 0')).toBe(0);
  });

  it('amid calls that wait for a token: nothing was sent, and every lease is given back', async () => {
    const { ended, response } = await measureUntil(answeredInTime, async () => {
      await start(async (environment) => {
        await admin.query(
          `UPDATE remote_tokens SET lease_token = gen_random_uuid(), lease_until = now() + interval '1 minute'`,
        );
        return startServiceProcess(environment);
      });
      await seed();
      const sent = register('unsent').catch(() => null);
      await waitForCall('unsent');
      await waitFor('sessions to be leased', async () => (await count(LEASES)) > 0);

      service.kill('SIGTERM');
      const ending = await endWithin(service, STOP_WITHIN_MS);
      return { service, ...ending, response: await sent };
    });
    expect(ended).toEqual({ code: 0, signal: null });
    expect(response?.status).toBe(202);
    const isSent = `${SENT} OR status <> 'pending' OR lease_token IS NOT NULL`;
    expect([await count(LEASES), await count(isSent)]).toEqual([0, 0]);
    expect(await count('FROM session_polls WHERE failures > 0')).toBe(0);
  });

  itAtLength(
    'in time amid deliveries to a receiver that does not respond, which are due at once for another worker',
    async () => {
      const sink = await startWebhookSink();
      closing.push(sink.stop);
      const { ended, tookMs } = await measureUntil(stoppedInTime, async () => {
        await sink.behave({ '/hook': { hang: 1 } });
        await start();
        await makeEndpoint(new TestClient(service.url, ADMIN_KEY), `${sink.url}/hook`);
        await withDatabase(database.url, (direct) => announce(direct, SESSIONS, 1));
        await waitFor('deliveries to be in flight', async () => (await sink.received()).length > 4);

        service.kill('SIGTERM');
        return { service, ...(await endWithin(service, STOP_WITHIN_MS)) };
      });
      const leased = await count(LEASED_ENDPOINTS);
      promise('R34', {
        figure: `exit ${ended?.code} ${Math.round(tookMs)} ms after a SIGTERM during deliveries, ${leased} endpoints leased`,
        bound: `0, ${STOP_WITHIN_MS} ms, 0`,
      });
      expect(ended).toEqual({ code: 0, signal: null });
      const due = 'FROM webhook_endpoints WHERE due_at <= clock_timestamp()';
      const attempted = 'FROM webhook_deliveries WHERE attempts > 0';
      expect([leased, await count(due), await count(attempted)]).toEqual([0, 1, 0]);
    },
  );

  it('while the database refuses what calls came to: it stores that instead, and what can be told of it', async () => {
    const { ended, responses } = await measureUntil(answeredInTime, async () => {
      await start();
      const client = new TestClient(service.url, ADMIN_KEY);
      const location = await client.locate();
      // A sequence counts the refused rows, since no rollback undoes it.
      await admin.query(`
        CREATE SEQUENCE refused;
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM nextval('refused'); RAISE 'a fault of an extension'; END $$;
        CREATE TRIGGER refuses BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION refuse();
        CREATE TRIGGER refuses BEFORE INSERT ON onboarding_sessions FOR EACH ROW EXECUTE FUNCTION refuse()`);
      const sent = Promise.all([register('refused'), client.start(location)]).catch(() => null);
      await waitFor('both to be refused', async () => (await count('FROM refused WHERE last_value > 1')) > 0);

      service.kill('SIGTERM');
      const ending = await endWithin(service, STOP_WITHIN_MS);
      const answers = await sent;
      return { service, ...ending, response: answers, responses: answers?.map(({ status }) => status) };
    });
    expect(ended).toEqual({ code: 0, signal: null });
    expect(responses).toEqual([202, 503]);
    const user = (await sandbox.control.users()).find(
      ({ tenantReference }) => tenantReference === 'refused',
    )!;
    const registration = `FROM registrations WHERE status = 'uncertain' AND last_error LIKE '%${user.id}%'`;
    expect(await count(registration)).toBe(1);
    expect(await count(`FROM session_starts WHERE status = 'failed' AND orphans = 1`)).toBe(1);
    const told = `FROM domain_events WHERE name IN ('user.registration_uncertain', 'session.start_failed')`;
    expect(await count(told)).toBe(2);
  });

  it('is unready first, and still serves for SHUTDOWN_DELAY_MS', async () => {
    // The delay alone is longer than the time within which a process stops.
    const delayMs = STOP_WITHIN_MS;
    const { ended, tookMs, response } = await measureUntil(answeredInTime, async () => {
      await start((environment) =>
        startServiceProcess({ ...environment, SHUTDOWN_DELAY_MS: String(delayMs) }),
      );
      const signalledAt = performance.now();
      service.kill('SIGTERM');
      const answer = await waitForUnready()
        .then(() => register('served-on'))
        .catch(() => null);
      const exit = await service.exited;
      return { service, ended: exit, tookMs: performance.now() - signalledAt, response: answer };
    });
    expect(response?.status).toBe(201);
    expect(ended).toEqual({ code: 0, signal: null });
    expect(tookMs).toBeGreaterThan(delayMs - 100);
  });

  it('serves the request whose first bytes have arrived when it begins to stop, here because its terminal is closed', async () => {
    const { ended, response } = await measureUntil(answeredInTime, async () => {
      await start();
      expect((await register('first')).status).toBe(201);
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname).on('error', () => {});
      closing.push(() => socket.destroy());
      let received = '';
      socket.on('data', (bytes) => (received += bytes.toString()));
      const closed = once(socket, 'close');
      socket.write(`GET /api/v1/users?tenantReference=first HTTP/1.1\r\nhost: ${hostname}\r\n`);
      // The service reads what has arrived before it reads a later connection.
      await fetch(`${service.url}/health/live`);
      service.kill('SIGHUP');
      await waitForRefusal();
      socket.write(`authorization: Bearer ${ADMIN_KEY}\r\n\r\n`);
      await closed;
      return { service, ended: await service.exited, response: received || null };
    });
    expect(response).toMatch(/^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n[^]*"first"/i);
    expect(ended).toEqual({ code: 0, signal: null });
  });

  itAtLength('turns red with the defaults of Nest', async () => {
    await start((environment) =>
      startTestProcess('test/faults/support/processes/nest-defaults.process.ts', environment),
    );
    expect((await endDuringRequest()).ended).toBeNull();
  });

  async function endDuringRequest() {
    // Registers a user first, so that the endless request has a token: a wait for a token would end earlier.
    expect((await register('first')).status).toBe(201);
    await sandbox.control.change({ latencyMs: 60_000 });
    const response = register('endless').catch((error: unknown) => error);
    await waitForCall('endless');
    service.kill('SIGTERM');
    const ending = await endWithin(service, STOP_WITHIN_MS);
    await service.stop('SIGKILL');
    await response;
    return { service, ...ending };
  }
});

/**
 * Returns whether a request was answered in time. For `measureUntil`: false also if a stalled machine delayed the request beyond its time
 * limit.
 */
const answeredInTime = (figure: Parameters<typeof stoppedInTime>[0] & { response: unknown }): boolean =>
  figure.response !== null && stoppedInTime(figure);

const SENT = 'FROM registrations WHERE sent_at IS NOT NULL';
const LEASES = 'FROM poll_batches';
const LEASED_ENDPOINTS = 'FROM webhook_endpoints WHERE lease_token IS NOT NULL';
const SENDING_STARTS = `FROM session_starts WHERE status = 'sending'`;
