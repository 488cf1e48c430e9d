import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startSandbox, type TestSandbox } from '../setup/sandbox.js';
import { startServiceProcess } from '../setup/service-process.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../setup/test-process.js';
import { waitFor } from '../setup/wait-for.js';
import { caught, promise } from './support/promise.js';

/** Added to each answer of the remote service; a first registration needs two, a token and the user. */
const SLOW_MS = 700;
const STOP_WITHIN_MS = 5_000;

describe('R34: stopping is clean', () => {
  let database: TestDatabase;
  let sandbox: TestSandbox;
  let service: TestProcess;
  const stops: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    stops.unshift(database.drop);
    sandbox = await startSandbox();
    stops.unshift(sandbox.stop);
    service = await startServiceProcess(environment());
    stops.unshift(() => service.stop('SIGKILL'));
  }, 60_000);
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  const environment = () => ({
    ...testEnvironment(),
    ...sandbox.environment,
    DATABASE_URL: database.url,
  });
  const call = (path: string, body?: object) =>
    fetch(`${service.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  const register = (reference: string) =>
    call('/users', { tenantReference: reference, gridLocations: [{ ean: '871685900000000014' }] });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'answers the request in flight after a %s, then ends',
    async (signal) => {
      await sandbox.control.change({ latencyMs: SLOW_MS });
      const answer = register('in-flight');
      await waitFor('the request to be under way', () => isRegistering(database.url));

      const askedAt = Date.now();
      const ended = await service.stop(signal);
      const tookMs = Date.now() - askedAt;
      promise('R34', {
        figure: `exit ${ended.code} ${tookMs} ms after ${signal} during a request`,
        bound: `0, ${STOP_WITHIN_MS} ms`,
      });
      expect(ended).toEqual({ code: 0, signal: null });
      expect(tookMs).toBeLessThan(STOP_WITHIN_MS);
      expect((await answer).status).toBe(201);
    },
  );

  it('takes no new connection once it is asked to stop', async () => {
    await sandbox.control.change({ latencyMs: SLOW_MS });
    const answer = register('last');
    await waitFor('the request to be under way', () => isRegistering(database.url));
    service.kill('SIGTERM');
    await waitFor('new connections to be refused', async () => {
      const attempt = fetch(`${service.url}/health/live`, { headers: { connection: 'close' } });
      return attempt.then(
        () => false,
        () => true,
      );
    });
    expect((await answer).status).toBe(201);
    expect((await service.exited).code).toBe(0);
  });

  it('ends in time however long a request takes', async () => {
    expect(await endsInTime()).toEqual({ code: 0, signal: null });
  });

  it('goes red with the defaults of Nest', async () => {
    await service.stop('SIGKILL');
    service = await startTestProcess('test/faults/support/nest-defaults.process.ts', environment());
    expect(await endsInTime()).toBe('still running');
    caught('R34', 'defaults of Nest');
  });

  async function endsInTime(): Promise<unknown> {
    await sandbox.control.change({ latencyMs: 60_000 });
    const answer = register('endless').catch((error: unknown) => error);
    await waitFor('the request to be under way', () => isRegistering(database.url));
    const ended = await Promise.race([service.stop('SIGTERM'), sleep(STOP_WITHIN_MS, 'still running')]);
    await service.stop('SIGKILL');
    await answer;
    return ended;
  }

  it('ends at once after a second signal', async () => {
    await sandbox.control.change({ latencyMs: 60_000 });
    const answer = register('forced').catch((error: unknown) => error);
    await waitFor('the request to be under way', () => isRegistering(database.url));
    service.kill('SIGINT');
    const first = Date.now();
    await waitFor('the first to be taken', () => Date.now() - first > 600);
    const askedAt = Date.now();
    expect((await service.stop('SIGINT')).code).toBe(130);
    expect(Date.now() - askedAt).toBeLessThan(1_000);
    await answer;
  });
});

async function isRegistering(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT 1 FROM registrations WHERE sent_at IS NOT NULL');
    return rows.length > 0;
  } finally {
    await client.end();
  }
}
