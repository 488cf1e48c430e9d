import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiKeysStore } from '../../../src/access/api-keys.store.js';
import { TestClient } from '../../setup/client.js';
import { openStream, type StreamAnswer } from '../../setup/receivers/event-stream.js';
import { startSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { ADMIN_KEY, testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { stoppedInTime } from '../support/evidence/own-time.js';
import { measureUntil, promise } from '../support/promise.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { createKey } from '../../e2e/keys.js';

const WITHIN_MS = 5_000;
const STREAMS = 20;

const openStreams = (url: string, count: number, key = ADMIN_KEY): Promise<StreamAnswer[]> =>
  Promise.all(Array.from({ length: count }, () => openStream(url, { key })));

const isInTime = (figure: Parameters<typeof stoppedInTime>[0] & { tookMs: number }): boolean =>
  stoppedInTime(figure) && figure.tookMs < WITHIN_MS;

describe('R34: stopping is clean', () => {
  let database: TestDatabase;
  let service: TestProcess;
  const closing = closeAfterEach();

  const start = async (run: (environment: Record<string, string>) => Promise<TestProcess>) => {
    database = await createTestDatabase();
    closing.push(database.drop);
    const sandbox = await startSandbox();
    closing.push(sandbox.stop);
    service = await run({ ...testEnvironment(), ...sandbox.environment, DATABASE_URL: database.url });
    closing.push(() => service.stop('SIGKILL'));
    return new TestClient(service.url, ADMIN_KEY);
  };

  it('ends open streams, even one that is not read, and responds to a request that waits for a session', async () => {
    const { ended, tookMs, complete, waited } = await measureUntil(isInTime, async () => {
      const client = await start(startServiceProcess);
      const { id } = await client.startNew();
      const streams = await openStreams(service.url, STREAMS);
      streams[0]!.stopReading();
      const waiting = client.call('GET', `/onboarding/pv/${id}?wait=60`).catch(() => null);
      await waitFor('all to be open', async () => {
        const metrics = await (await fetch(`${service.url}/metrics`)).text();
        return (
          metrics.includes(`pv_onboarding_event_streams ${STREAMS}\n`) &&
          metrics.includes('pv_onboarding_waiting_requests 1\n')
        );
      });

      const askedAt = performance.now();
      const exit = await service.stop('SIGTERM');
      return {
        service,
        ended: exit,
        tookMs: performance.now() - askedAt,
        complete: await Promise.all(streams.slice(1).map((stream) => stream.ended)),
        waited: await waiting,
      };
    });
    promise('R34', {
      figure: `exit ${ended.code} ${Math.round(tookMs)} ms after SIGTERM with ${STREAMS} streams open`,
      bound: `0, ${WITHIN_MS} ms`,
    });
    expect(ended).toEqual({ code: 0, signal: null });
    expect(tookMs).toBeLessThan(WITHIN_MS);
    expect(complete).toEqual(complete.map(() => 'complete'));
    expect(waited?.status).toBe(200);
  });

  it('turns red when nothing ends the streams', async () => {
    await start((environment) =>
      startTestProcess('test/faults/support/processes/endless-streams.process.ts', environment),
    );
    await openStreams(service.url, STREAMS);
    const ended = await Promise.race([service.stop('SIGTERM'), sleep(WITHIN_MS, 'still running')]);
    expect(ended).toBe('still running');
  });
});

describe('R35: keys are safe', () => {
  let test: TestApp;
  const start = async (prepare?: (app: NestFastifyApplication) => void): Promise<void> => {
    test = await startTestApp({ ROLE: 'api', SCS_BASE_URL: 'http://127.0.0.1:9' }, prepare && { prepare });
  };
  afterEach(() => test.close());

  /** Returns the time until all streams of a revoked key have ended. Checks that streams of another key stay open. */
  async function msUntilEnded(): Promise<number> {
    const admin = TestClient.of(test);
    const { id, key } = await createKey(admin, 'events:read');
    const others = await openStreams(test.url, 2, test.adminKey);
    const streams = await openStreams(test.url, STREAMS, key);
    let othersEnded = false;
    for (const other of others) void other.ended.then(() => (othersEnded = true));
    await admin.call('DELETE', `/api-keys/${id}`);
    const revokedAt = performance.now();
    const all = Promise.all(streams.map((stream) => stream.ended)).then((ends) => {
      expect(ends).toEqual(ends.map(() => 'complete'));
      return performance.now() - revokedAt;
    });
    const tookMs = await Promise.race([all, sleep(WITHIN_MS + 500, Infinity)]);
    expect(othersEnded).toBe(false);
    await waitFor('no new one to be taken', async () => {
      const late = await openStream(test.url, { key });
      late.leave();
      return late.status === 401;
    });
    for (const stream of [...streams, ...others]) stream.leave();
    return tookMs;
  }

  it('a revoked key loses its open streams', async () => {
    await start();
    const tookMs = await measureUntil((ms) => ms <= WITHIN_MS, msUntilEnded);
    promise('R35', {
      figure: `${STREAMS} open streams ended ${Math.round(tookMs)} ms after their key was revoked`,
      bound: `${WITHIN_MS} ms`,
    });
    expect(tookMs).toBeLessThanOrEqual(WITHIN_MS);
  });

  it('turns red when a key is checked only at the start of a stream', async () => {
    await start((app) => {
      app.get(ApiKeysStore).findRevoked = async () => [];
    });
    expect(await msUntilEnded()).toBe(Infinity);
  });
});
