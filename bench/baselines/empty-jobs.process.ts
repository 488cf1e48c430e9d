import { run } from 'graphile-worker';
import pg from 'pg';
import { Arrivals } from '../harness/load/arrivals.js';
import { takePart } from '../harness/contender.js';
import { runnerOptions } from './graphile-runner.js';

// Runs bare graphile-worker. Its task only records the arrival of a job. For `TUNED=1`, see runnerOptions.
takePart(async ({ databaseUrl, concurrency, environment }) => {
  const arrivals = new Arrivals();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 12 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  await run({
    ...runnerOptions(pool, concurrency, environment?.TUNED === '1'),
    taskList: { empty: async (payload) => arrivals.add((payload as { subject: string }).subject) },
  });
  return { run: (count: number) => arrivals.take(count) };
});
