import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { startServiceProcess } from '../setup/service-process.js';
import type { TestProcess } from '../setup/test-process.js';
import { waitFor } from '../setup/wait-for.js';
import { INTERVAL_MS, measureRush, seedOverdue } from './support/overdue-sessions.js';
import { promise } from './support/promise.js';
import { startReplicas, type Replicas } from './support/replicas.js';

jest.setTimeout(180_000);

const REPLICAS = 3;
const SESSIONS = 10_000;
const LIMIT = 32;
const LATENCY_MS = 20;

let observer: Replicas;
let workers: TestProcess[];
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop('SIGKILL')));
  await observer.close();
});

describe('R27: no stampede', () => {
  it(`when ${REPLICAS} processes start together and ${SESSIONS} sessions are overdue`, async () => {
    workers = [];
    observer = await startReplicas({ count: 1, environment: { ROLE: 'api' } });
    const { control } = observer.sandbox;
    const database = observer.apps[0]!.app.get(Database);
    const dueOrder = await seedOverdue(database, control, SESSIONS);
    await control.change({ latencyMs: LATENCY_MS });

    workers = await Promise.all(
      Array.from({ length: REPLICAS }, () =>
        startServiceProcess({
          ROLE: 'worker',
          DATABASE_URL: observer.databaseUrl,
          ...observer.sandbox.environment,
          POLL_TICK_MS: '1000',
          POLL_MIN_INTERVAL_MS: String(INTERVAL_MS),
          POLL_MAX_INTERVAL_MS: String(2 * INTERVAL_MS),
          SCS_MAX_CONCURRENCY: String(LIMIT),
        }),
      ),
    );
    const ledger = await waitFor(
      'every session was read',
      async () => {
        const now = await control.ledger();
        return Object.keys(now.reads).length === SESSIONS && now.inFlight === 0 && now;
      },
      120_000,
    );

    const { maxInFlight, rankCorrelation, largestTenth } = await measureRush(database, ledger, dueOrder);
    promise('R27', {
      figure:
        `${SESSIONS} overdue, ${REPLICAS} replicas: at most ${maxInFlight} in flight, rank correlation ` +
        `${rankCorrelation.toFixed(3)}, ${(100 * largestTenth).toFixed(0)} % due again in the same tenth`,
      bound: `${REPLICAS * LIMIT} in flight, correlation 0.95, 20 %`,
    });
    expect(maxInFlight).toBeLessThanOrEqual(REPLICAS * LIMIT);
    expect(rankCorrelation).toBeGreaterThan(0.95);
    expect(largestTenth).toBeLessThan(0.2);
  });
});
