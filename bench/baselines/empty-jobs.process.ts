import { Logger, run } from 'graphile-worker';
import pg from 'pg';
import { Arrivals } from '../harness/arrivals.js';
import { takePart } from '../harness/contender.js';

// Bare graphile-worker with a task that does nothing. `TUNED=1` adds its local queue and completing in batches.
takePart(async ({ databaseUrl, concurrency, environment }) => {
  const arrivals = new Arrivals();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 12 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const isTuned = environment?.TUNED === '1';
  await run({
    pgPool: pool,
    concurrency,
    pollInterval: 50,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    preset: {
      worker: isTuned ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {},
    },
    taskList: { empty: async (payload) => arrivals.add((payload as { subject: string }).subject) },
  });
  return { run: (count: number) => arrivals.take(count) };
});
