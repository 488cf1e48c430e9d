import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EventSignal } from '../../../src/events/event-signal.service.js';
import { Database } from '../../../src/platform/database/database.js';
import { startTcpProxy, type TcpProxy } from '../../faults/support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { appendOnline } from './fixture.js';

/** The application_name of the LISTEN connection. */
const LISTENING = 'pv-onboarding listen';
const never = new AbortController().signal;

let testDatabase: TestDatabase;
let database: Database;
let proxy: TcpProxy;
let signal: EventSignal;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open();
  proxy = await startTcpProxy(testDatabase.url);
  signal = new EventSignal(environmentFor(proxy.url));
  signal.onApplicationBootstrap();
  await waitUntilListening();
});
afterEach(async () => {
  await signal.onApplicationShutdown();
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
const append = () => appendOnline(database, randomUUID(), 'test');
const msOf = async (work: () => Promise<unknown>): Promise<number> => {
  const beganAt = performance.now();
  await work();
  return performance.now() - beganAt;
};

describe('EventSignal', () => {
  it('says at once that an event was committed, to everybody who waits', async () => {
    await signal.wait(never, 5_000);
    const waits = [signal.wait(never, 5_000), signal.wait(never, 5_000)];
    expect(await msOf(async () => Promise.all([append(), ...waits]))).toBeLessThan(500);
  });

  it('says something every second, whether or not there is a notification', async () => {
    await proxy.refuse();
    const took = await msOf(() => signal.wait(never, 5_000));
    expect(took).toBeLessThan(1_500);
  });

  it('has not overheard what was said between a reading and the wait', async () => {
    const before = signal.count;
    await append();
    await waitFor('something to be said', () => signal.count > before);
    expect(await msOf(() => signal.wait(never, 5_000, before))).toBeLessThan(50);
  });

  it('ends a wait after the time given, and when the caller gives it up', async () => {
    expect(await msOf(() => signal.wait(never, 20))).toBeLessThan(900);
    const given = new AbortController();
    const waiting = msOf(() => signal.wait(given.signal, 5_000));
    given.abort();
    expect(await waiting).toBeLessThan(900);
    expect(await msOf(() => signal.wait(given.signal, 5_000))).toBeLessThan(50);
  });

  it('tells a listener nothing more once it has left', async () => {
    let told = 0;
    const leave = signal.onSignal(() => (told += 1));
    await waitFor('something to be said', () => told > 0);
    leave();
    const before = told;
    await signal.wait(never, 5_000);
    expect(told).toBe(before);
  });

  it('notices within 3 s that nobody is at the other end any more, and listens again', async () => {
    expect(proxy.fallSilent(LISTENING)).toBe(1);
    await waitFor('another connection', () => proxy.begun(LISTENING) > 1, 3_000);
    await waitUntilListening();
    await signal.wait(never, 5_000);
    const waiting = msOf(() => signal.wait(never, 5_000));
    await append();
    expect(await waiting).toBeLessThan(500);
  });

  it('keeps its connection while nothing is wrong', async () => {
    await sleep(3_000);
    expect(proxy.begun(LISTENING)).toBe(1);
  });

  it('stops at once although the server does not answer, and leaves no connection', async () => {
    proxy.fallSilent(LISTENING);
    expect(await msOf(() => signal.onApplicationShutdown())).toBeLessThan(1_000);
    await proxy.close();
    await waitFor('the connection to be gone', async () => (await listeners()) === 0);
  });
});
