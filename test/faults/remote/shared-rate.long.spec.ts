import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { OperationsStore } from '../../../src/remote/shared/operations.store.js';
import { startRawServer, type RawServer, readSession, reply } from '../../e2e/remote/fixture.js';
import { createTestDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { measureUntil } from '../support/promise.js';
import { type RemoteReplica, startRemoteReplica } from '../support/remote-replica.js';

const CEILING = 150;
/** The number of callers: enough to exceed the ceiling, so that a call always waits. */
const CALLERS_PER_REPLICA = 8;
const MEASURED_MS = 3_000;

let database: TestDatabase;
let server: RawServer;
let arrivals: number;
let calling = true;
/** The calls of each replica. */
const served = new Map<RemoteReplica['remote'], number>();
const callers: Promise<void>[] = [];
const replicas: RemoteReplica[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  [arrivals, calling] = [0, true];
  server = await startRawServer((socket) => {
    arrivals++;
    socket.write(reply(200, '{}'));
  });
});

afterEach(async () => {
  calling = false;
  jest.restoreAllMocks();
  await Promise.all(callers.splice(0));
  for (const replica of replicas.splice(0)) await replica.close();
  await server.close();
  await database.drop();
});

async function start(atOnce = CALLERS_PER_REPLICA): Promise<RemoteReplica> {
  const replica = await startRemoteReplica({
    DATABASE_URL: database.url,
    SCS_BASE_URL: server.url,
    SCS_MAX_REQUESTS_PER_SECOND: CEILING,
  });
  replicas.push(replica);
  callFrom(replica, atOnce);
  return replica;
}

/** Sends calls without a pause until the end of the test. */
function callFrom({ remote }: RemoteReplica, atOnce = CALLERS_PER_REPLICA): void {
  const call = async (): Promise<void> => {
    while (calling) {
      const sent = await remote.send(readSession);
      // Pauses, because a closed replica returns not_sent at once.
      if (sent.kind === 'not_sent') await sleep(20);
      else served.set(remote, (served.get(remote) ?? 0) + 1);
    }
  };
  for (let i = 0; i < atOnce; i++) callers.push(call());
}

/** Measures the request rate for `ms`. Returns the rate divided by the ceiling. */
async function measure(ms = MEASURED_MS): Promise<number> {
  const [before, startedAt] = [arrivals, performance.now()];
  await sleep(ms);
  return ((arrivals - before) * 1_000) / (performance.now() - startedAt) / CEILING;
}

/** Expects the calls to reach the ceiling, and no measurement to exceed it. */
async function expectFullUse(): Promise<void> {
  await waitFor('the first calls', () => arrivals > 0);
  const used = await measureUntil(
    (figure) => figure >= 0.9,
    async () => {
      const figure = await measure();
      expect(figure).toBeLessThanOrEqual(1.05);
      return figure;
    },
  );
  expect(used).toBeGreaterThanOrEqual(0.9);
}

describe('SCS_MAX_REQUESTS_PER_SECOND', () => {
  it('is a ceiling for all replicas together, and is used', async () => {
    await Promise.all([start(), start(), start()]);
    await expectFullUse();
  });

  it('is used by one replica alone while the others are idle, and at once by those that begin to call', async () => {
    await start();
    const idle = [await start(0), await start(0)];
    await expectFullUse();
    for (const replica of idle) callFrom(replica);
    served.clear();
    expect(await measure()).toBeLessThanOrEqual(1.05);
    for (const count of served.values()) expect((count * 1_000) / MEASURED_MS / CEILING).toBeGreaterThan(0.2);
    await waitFor('it is known', () =>
      replicas.every(({ remote }) => remote.budget.perSecond > 0.2 * CEILING),
    );
  });

  it('is free for the others within a second after a replica has died', async () => {
    await Promise.all([start(), start()]);
    await expectFullUse();
    // Without the database, the second replica gets no tokens.
    replicas[1]!.database.queryAside = () => Promise.reject(new Error('the database is away'));
    await sleep(1_000);
    const used = await measure(1_000);
    expect(used).toBeGreaterThanOrEqual(0.9);
    expect(used).toBeLessThanOrEqual(1.05);
    expect(replicas[1]!.remote.status().inFlight).toBe(0);
  });

  it('would be exceeded if each replica had tokens of its own', async () => {
    jest.spyOn(OperationsStore.prototype, 'drawTokens').mockResolvedValue(0);
    await Promise.all([start(), start(), start()]);
    await waitFor('the first calls', () => arrivals > 0);
    expect(await measure()).toBeGreaterThan(1.5);
  });
});
