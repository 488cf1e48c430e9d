import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EventSignal } from '../../../src/events/event-signal.service.js';
import { Listener } from '../../../src/platform/database/connection/listen.js';
import { Database } from '../../../src/platform/database/database.js';
import { inTime, measureUntil } from '../../faults/support/promise.js';
import { startTcpProxy, type TcpProxy } from '../../faults/support/network/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { appendOnline } from './fixture.js';

/** The application_name of the LISTEN connection. */
const LISTENING = 'pv-onboarding listen';
/** The limit for a signal caused by a notification: much shorter than the tick of one second. */
const SOON_MS = 500;
const isSoon = (ms: number) => ms < SOON_MS;
const never = new AbortController().signal;

let testDatabase: TestDatabase;
let database: Database;
let proxy: TcpProxy;
let listener: Listener;
let signal: EventSignal;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open();
  proxy = await startTcpProxy(testDatabase.url);
  await start();
});
afterEach(async () => {
  signal.onApplicationShutdown();
  await listener.onApplicationShutdown();
  await proxy.close();
  await testDatabase.drop();
});

const listeners = async (): Promise<number> => {
  const rows = await database.query(
    `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = $1 AND state = 'idle' AND (query LIKE '%pg_listening_channels%' OR query = $2)`,
    [LISTENING, 'LISTEN "pv_onboarding_events"'],
  );
  return rows.length;
};
const waitUntilListening = () => waitFor('a connection that listens', async () => (await listeners()) === 1);
const start = async (): Promise<void> => {
  listener = new Listener(environmentFor(proxy.url));
  signal = new EventSignal(listener);
  signal.onApplicationBootstrap();
  await waitUntilListening();
};
const append = () => appendOnline(database, randomUUID(), 'test');
const msOf = async (work: () => Promise<unknown>): Promise<number> => {
  const beganAt = performance.now();
  await work();
  return performance.now() - beganAt;
};

describe('EventSignal', () => {
  it('signals a committed event at once to every waiting caller', async () => {
    const tookMs = await measureUntil(isSoon, async () => {
      await signal.wait(never, 5_000);
      const waits = [signal.wait(never, 5_000), signal.wait(never, 5_000)];
      return msOf(async () => Promise.all([append(), ...waits]));
    });
    expect(tookMs).toBeLessThan(inTime(SOON_MS));
  });

  it('signals every second, even without a notification', async () => {
    await proxy.refuse();
    const tookMs = await measureUntil(
      (ms) => ms < 1_500,
      () => msOf(() => signal.wait(never, 5_000)),
    );
    expect(tookMs).toBeLessThan(inTime(1_500));
  });

  it('notices that its connection is silent, and listens again', async () => {
    const silenced = proxy.fallSilent(LISTENING);
    await waitFor('another connection', () => proxy.begun(LISTENING) > silenced);
    await waitUntilListening();
    const tookMs = await measureUntil(isSoon, async () => {
      await signal.wait(never, 5_000);
      const waiting = msOf(() => signal.wait(never, 5_000));
      await append();
      return waiting;
    });
    expect(tookMs).toBeLessThan(inTime(SOON_MS));
  });

  it('stops at once although the server does not respond, and leaves no connection', async () => {
    const tookMs = await measureUntil(
      (ms) => ms < 1_000,
      async () => {
        proxy.fallSilent(LISTENING);
        signal.onApplicationShutdown();
        const ms = await msOf(() => listener.onApplicationShutdown());
        await waitFor('the connection to be gone', async () => (await listeners()) === 0);
        await start();
        return ms;
      },
    );
    expect(tookMs).toBeLessThan(inTime(1_000));
  });
});
