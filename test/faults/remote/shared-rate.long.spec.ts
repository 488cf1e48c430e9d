import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DeploymentStore } from '../../../src/remote/shared/deployment.store.js';
import { startRawServer, type RawServer, readSession, reply } from '../../e2e/remote/fixture.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { waitFor } from '../../setup/wait-for.js';
import { isLong, itAtLength, measureUntil } from '../support/promise.js';
import { type RemoteReplica, startRemoteReplica } from '../support/remote-replica.js';

const CEILING = 150;
/** Enough callers to exceed the ceiling, so that a call always waits. */
const CALLERS_PER_REPLICA = 8;
const MEASURED_MS = isLong ? 5_000 : 1_500;

let database: TestDatabase;
let server: RawServer;
let arrivals: number[];
let calling = true;
const callers: Promise<void>[] = [];
const replicas: RemoteReplica[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  [arrivals, calling] = [[], true];
  server = await startRawServer((socket) => {
    arrivals.push(performance.now());
    socket.write(reply(200, '{}'));
  });
});

afterEach(async () => {
  calling = false;
  await Promise.all(callers.splice(0));
  for (const replica of replicas.splice(0)) await replica.close();
  await server.close();
  await database.drop();
});

async function start({ atOnce = CALLERS_PER_REPLICA } = {}): Promise<RemoteReplica> {
  const settings = {
    DATABASE_URL: database.url,
    SCS_BASE_URL: server.url,
    SCS_MAX_REQUESTS_PER_SECOND: CEILING,
  };
  const replica = await startRemoteReplica(settings);
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
    }
  };
  for (let i = 0; i < atOnce; i++) callers.push(call());
}

/** Measures the request rate for `ms`. Returns the rate divided by the ceiling. */
async function measure(ms: number): Promise<number> {
  const [before, startedAt] = [arrivals.length, performance.now()];
  await sleep(ms);
  return ((arrivals.length - before) * 1_000) / (performance.now() - startedAt) / CEILING;
}

/** Expects the calls to reach the ceiling, and no measurement to exceed it. */
async function expectFullUse(): Promise<void> {
  const share = await measureUntil(
    (used) => used >= 0.8,
    async () => {
      const used = await measure(MEASURED_MS);
      expect(used).toBeLessThanOrEqual(1.1);
      return used;
    },
  );
  expect(share).toBeGreaterThanOrEqual(0.8);
}

const counted = async ({ database: held }: RemoteReplica): Promise<number[]> =>
  (await held.query<{ counted: number }>('SELECT counted FROM remote_replicas')).map((row) => row.counted);

const beats = async ({ database: held }: RemoteReplica): Promise<number[]> =>
  (await held.query<{ at: Date }>('SELECT expires_at AS at FROM remote_replicas')).map(({ at }) =>
    at.getTime(),
  );

/** Waits until every replica's heartbeat has counted `count` replicas, and then for another heartbeat of every replica. */
async function waitUntilSettled(count: number): Promise<void> {
  const first = replicas[0]!;
  await waitFor(
    'all to have counted all',
    async () => JSON.stringify(await counted(first)) === JSON.stringify(Array(count).fill(count)),
  );
  const latest = Math.max(...(await beats(first)));
  await waitFor('another heartbeat of all', async () => Math.min(...(await beats(first))) > latest);
  // Requests that were admitted under the old share of the limit may still arrive during this time.
  await sleep(250);
}

describe('SCS_MAX_REQUESTS_PER_SECOND', () => {
  it('is a ceiling for all replicas together, and is used', async () => {
    await Promise.all([start(), start(), start()]);
    await waitUntilSettled(3);
    await expectFullUse();
  });

  it('is used by one replica alone while the others are idle, and divided again once they call', async () => {
    await start();
    const idle = [await start({ atOnce: 0 }), await start({ atOnce: 0 })];
    await waitUntilSettled(3);
    await expectFullUse();
    const handover = measure(MEASURED_MS);
    for (const replica of idle) callFrom(replica);
    const shares = () => replicas.map(({ remote }) => remote.perSecond);
    await waitFor('equal shares', () => Math.min(...shares()) > 0.9 * (CEILING / 3));
    expect(await handover).toBeLessThanOrEqual(1.1);
    expect(await measure(MEASURED_MS)).toBeLessThanOrEqual(1.1);
  });

  itAtLength(
    'is not exceeded while others join, and is one replica’s alone once they have left',
    async () => {
      await start();
      await waitFor('the first calls', () => arrivals.length > 0);
      const [second, third] = [await start(), await start()];
      expect(await measure(MEASURED_MS)).toBeLessThanOrEqual(1.1);
      for (const replica of [second, third]) {
        replicas.splice(replicas.indexOf(replica), 1);
        await replica.close();
      }
      await waitUntilSettled(1);
      await expectFullUse();
    },
  );

  itAtLength('is shared by live replicas: the share of a dead one is free after a few seconds', async () => {
    const [first] = [await start(), await start()];
    await waitUntilSettled(2);
    // Without the database, the second replica must stop calling, because the first replica counts it as dead.
    replicas[1]!.database.query = () => Promise.reject(new Error('the database is away'));
    await waitFor('the second replica to count as dead', async () => (await counted(first)).includes(1));
    await expectFullUse();
  });

  it('would be exceeded if a replica counted itself alone', async () => {
    const alone = DeploymentStore.prototype.beat;
    DeploymentStore.prototype.beat = async () => [];
    try {
      await Promise.all([start(), start(), start()]);
      await waitFor('the first calls', () => arrivals.length > 0);
      const share = await measureUntil(
        (used) => used > 1.1,
        () => measure(MEASURED_MS),
      );
      expect(share).toBeGreaterThan(1.1);
    } finally {
      DeploymentStore.prototype.beat = alone;
    }
  });
});
