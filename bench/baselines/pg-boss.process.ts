import pg from 'pg';
import PgBoss from 'pg-boss';
import { takePart } from '../harness/contender.js';
import { Countdown, engineReader, firstJobs, NEXT_READ_MS, type PollJob } from './engine-read.js';

const QUEUE = 'poll';
/** The number of jobs per fetch. By default, a pg-boss worker fetches one job every half second. */
const BATCH = 500;

// Runs each poll as a pg-boss job, and then sends the job of the next poll. A pg-boss worker pauses after a batch that took less than
// half a second, so our own loop fetches and completes the jobs.
takePart(async ({ remoteUrl, databaseUrl, concurrency }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  const read = engineReader(remoteUrl, pool, concurrency);
  const countdown = new Countdown();
  const startAfter = () => new Date(Date.now() + NEXT_READ_MS);

  const boss = new PgBoss({ connectionString: databaseUrl, max: 20, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue(QUEUE);
  await boss.insert(firstJobs().map((data) => ({ name: QUEUE, data, startAfter: startAfter() })));

  const work = async (): Promise<number> => {
    const jobs = await boss.fetch<PollJob>(QUEUE, { batchSize: BATCH });
    let next = 0;
    const one = async (): Promise<void> => {
      while (next < jobs.length) {
        const { data } = jobs[next++]!;
        await boss.send(QUEUE, await read(data), { startAfter: startAfter() });
        countdown.step();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, one));
    if (jobs.length > 0)
      await boss.complete(
        QUEUE,
        jobs.map(({ id }) => id),
      );
    return jobs.length;
  };
  return {
    run: async (count: number) => {
      const done = countdown.of(count);
      for (let worked = 0; worked < count;) worked += await work();
      await done;
    },
  };
});
