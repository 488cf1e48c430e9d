import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DELETE_EXPIRED_BATCHES, RENEW_LEASES, OPEN_BATCH } from '../../../src/onboarding/poll/polls.sql.js';
import { Database } from '../../../src/platform/database/database.js';
import type { SandboxLedger } from '../../setup/sandbox/sandbox-control.js';
import { type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';
import { changeStatement } from '../support/changed-statement.js';
import { isLong, itAtLength, promise } from '../support/promise.js';
import { startBeside, startReplicas, type Replicas } from '../support/replicas.js';
import { seedSessions } from '../support/seeded-sessions.js';

jest.setTimeout(240_000);

const MINUTE_MS = 60_000;
const CLOCKS_MS = [-5 * MINUTE_MS, 0, 10 * MINUTE_MS];
const SESSIONS = isLong ? 200 : 40;
const READS_OF_EACH = isLong ? 10 : 2;
const LATENCY_MS = 40;
const TOKEN_LIFETIME_MS = 60 * MINUTE_MS;
/** Intervals so short that a session is due again while other reads of its batch are in flight. */
const IMPATIENT = { POLL_TICK_MS: 20, POLL_MIN_INTERVAL_MS: 100, POLL_MAX_INTERVAL_MS: 200 };
const LEASES = { SCS_TIMEOUT_MS: 5_000, POLL_LEASE_MS: 10_000 };

let replicas: Replicas;
let workers: TestProcess[];
beforeEach(() => {
  workers = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop('SIGKILL')));
  await replicas.close();
});

const database = (): Database => replicas.apps[0]!.database;

async function seed(): Promise<void> {
  const { control } = replicas.sandbox;
  await control.change({ latencyMs: LATENCY_MS, tokenLifetimeMs: TOKEN_LIFETIME_MS });
  await seedSessions(database(), control, SESSIONS);
}

const startWorker = (clockMs: number): Promise<TestProcess> =>
  startBeside(replicas, 'test/faults/support/processes/shifted-clock.process.ts', {
    ROLE: 'worker',
    ...IMPATIENT,
    ...LEASES,
    CLOCK_SHIFT_MS: clockMs,
  });

async function clockOf(worker: TestProcess): Promise<number> {
  const printed = await waitFor(
    'the worker prints its time',
    () => /it is (\S+) here/.exec(worker.logs())?.[1],
  );
  return Date.parse(printed) - Date.now();
}

/** Waits until every worker has read, and every session has been read READS_OF_EACH more times. */
async function readOn(): Promise<SandboxLedger> {
  const { control } = replicas.sandbox;
  const before = (await control.ledger()).reads;
  const seen = new Set<string>();
  return waitFor(
    'every worker reads, and every session is read again and again',
    async () => {
      const rows = await database().query<{ worker: string }>('SELECT worker FROM poll_batches');
      for (const { worker } of rows) seen.add(worker);
      const now = await control.ledger();
      const reads = Object.entries(now.reads);
      const isEnough = reads.every(([id, { total }]) => total >= (before[id]?.total ?? 0) + READS_OF_EACH);
      return seen.size >= workers.length && reads.length === SESSIONS && isEnough && now;
    },
    90_000,
  );
}

/** The bug: leases begin and expire by the replica's clock. */
function leaseByOwnClock(app: NestFastifyApplication, clockMs: number): void {
  const databaseClock = 'clock_timestamp()';
  const ownClock = `(clock_timestamp() + interval '${clockMs} milliseconds')`;
  for (const statement of [OPEN_BATCH, RENEW_LEASES, DELETE_EXPIRED_BATCHES])
    changeStatement(app, statement, databaseClock, ownClock);
}

describe('R5: clocks may disagree', () => {
  it('by a quarter of an hour: no session is read twice at once, and none is left unread when a replica dies', async () => {
    replicas = await startReplicas({ count: 1, environment: { ROLE: 'api' } });
    await seed();
    workers = await Promise.all(CLOCKS_MS.map(startWorker));
    for (const [index, clockMs] of CLOCKS_MS.entries())
      expect(Math.abs((await clockOf(workers[index]!)) - clockMs)).toBeLessThanOrEqual(MINUTE_MS);
    await readOn();
    // Kills the worker whose clock is furthest ahead: leases by that clock would expire last.
    await workers.pop()!.stop('SIGKILL');
    const ledger = await readOn();
    promise('R5', {
      figure: `clocks off by -5, 0 and 10 minutes: ${ledger.maxConcurrentReadsOfOneSession} read of a session at once, 0 left unread`,
      bound: '1 at once, 0 left unread',
    });
    expect(ledger.maxConcurrentReadsOfOneSession).toBe(1);
    expect(ledger.tokens).toHaveLength(1);
  });

  itAtLength("turns red when leases go by the replicas' own clocks", async () => {
    replicas = await startReplicas({
      count: CLOCKS_MS.length,
      environment: IMPATIENT,
      prepare: (app, replica) => leaseByOwnClock(app, CLOCKS_MS[replica]!),
    });
    await seed();
    const { control } = replicas.sandbox;
    await waitFor(
      'a session is read twice at once',
      async () => (await control.ledger()).maxConcurrentReadsOfOneSession > 1,
    );
  });
});
