import { afterEach, describe, it, jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { startServiceProcess } from '../../setup/service-process.js';
import type { TestProcess } from '../../setup/test-process.js';
import { expectNoStampede, INTERVAL_MS, measureRush, seedOverdue } from '../support/overdue-sessions.js';
import { startReplicas, type Replicas } from '../support/replicas.js';

jest.setTimeout(300_000);

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
    const rush = await measureRush(database, control, dueOrder, 200_000);
    expectNoStampede(rush, SESSIONS, REPLICAS, LIMIT);
  });
});
