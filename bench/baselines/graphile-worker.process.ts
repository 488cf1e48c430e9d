import { makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { takePart } from '../harness/contender.js';
import { Countdown, engineReader, firstJobs, NEXT_READ_MS, type PollJob } from './engine-read.js';
import { runnerOptions } from './graphile-runner.js';

// One graphile-worker job per poll, which adds the next one itself. `TUNED=1` tunes it.
takePart(async ({ remoteUrl, databaseUrl, concurrency, environment }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  const read = engineReader(remoteUrl, pool, concurrency);
  const countdown = new Countdown();
  const nextReadAt = () => new Date(Date.now() + NEXT_READ_MS);

  const utils = await makeWorkerUtils({ pgPool: pool });
  await utils.migrate();
  await utils.addJobs(firstJobs().map((payload) => ({ identifier: 'poll', payload, runAt: nextReadAt() })));
  // Idle, its workers look for jobs in turn, which takes a sixth of a core of PostgreSQL: not in the rounds of others.
  let stopped = Promise.resolve();
  return {
    run: async (count: number) => {
      await stopped;
      const done = countdown.of(count);
      const runner = await run({
        ...runnerOptions(pool, concurrency, environment?.TUNED === '1'),
        taskList: {
          poll: async (payload, { addJob }) => {
            await addJob('poll', await read(payload as PollJob), { runAt: nextReadAt() });
            countdown.step();
          },
        },
      });
      await done;
      stopped = runner.stop();
    },
  };
});
