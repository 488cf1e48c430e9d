import { makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { takePart } from '../harness/contender.js';
import { Countdown, engineReader, firstJobs, NEXT_READ_MS, type PollJob } from './engine-read.js';
import { runnerOptions } from './graphile-runner.js';

// Runs each poll as a graphile-worker job, which adds the job of the next poll. For `TUNED=1`, see runnerOptions.
takePart(async ({ remoteUrl, databaseUrl, concurrency, environment }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  const read = engineReader(remoteUrl, pool, concurrency);
  const countdown = new Countdown();
  const nextReadAt = () => new Date(Date.now() + NEXT_READ_MS);

  const utils = await makeWorkerUtils({ pgPool: pool });
  await utils.migrate();
  await utils.addJobs(firstJobs().map((payload) => ({ identifier: 'poll', payload, runAt: nextReadAt() })));
  // Stops the runner after each round: idle workers that poll for jobs cost PostgreSQL a sixth of a core.
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
