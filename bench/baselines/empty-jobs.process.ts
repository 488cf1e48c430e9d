import { run } from 'graphile-worker';
import pg from 'pg';
import { Arrivals } from '../harness/arrivals.js';
import { takePart } from '../harness/contender.js';
import { runnerOptions } from './graphile-runner.js';

// Bare graphile-worker with a task that does nothing. `TUNED=1` tunes it.
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
