import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../src/platform/database/database.js';
import { LearnedSchedules } from '../src/onboarding/poll/learned-schedules.js';
import { PollsStore } from '../src/onboarding/poll/polls.store.js';
import type { BenchDatabase } from './harness/database.js';
import { LineUp } from './harness/line-up.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast, atMost } from './harness/result.js';
import { control, interleave, rateOf, ratio, type Sample, summarise } from './harness/rounds.js';
import { median, medianAndTail, rounded } from './harness/statistics.js';
import { type BenchOptions, profileFlags } from './options.js';

const IN_FLIGHT = 64;
/** Sessions per claim: 1 % of the smallest size, because only 1 % of the sessions is due. */
const CLAIM = 100;
/** An idle connection flushes its statistics within this time (PGSTAT_IDLE_INTERVAL is 10 s). */
const STATISTICS_FLUSH_MS = 11_000;
/** Before the measurement, this many times the sessions of one round are polled. */
const POLLED_BEFORE = 10;
/** Measured claims per database size and round. */
const CLAIMS = 20;
const MEGABYTE = 2 ** 20;

interface Size {
  readonly name: string;
  readonly sessions: number;
  readonly database: BenchDatabase;
  readonly worker: Participant;
  readonly polls: PollsStore;
  readonly end: () => Promise<void>;
}

/** Measures how polling depends on the number of open sessions. The number of due sessions is the same at every size. */
export async function flatBench(options: BenchOptions): Promise<void> {
  const sizes = options.quick ? [2_000, 10_000, 50_000] : [10_000, 100_000, 1_000_000];
  const atOnce = options.quick ? 2_000 : 10_000;
  const most = sizes.at(-1)!;
  const names = sizes.map((sessions) => `${sessions} sessions`);
  await LineUp.with({ sessions: most, remotes: names, changes: false }, async (lineUp) => {
    const all: Size[] = [];
    for (const [index, sessions] of sizes.entries())
      all.push(await prepare(lineUp, names[index]!, sessions, options));
    const first = all[0]!;
    const last = all.at(-1)!;
    const again = `${first.name} again`;
    const polled = new Map<string, number>(all.map(({ name }) => [name, 0]));
    // Resident memory varies by over 50 MB between two garbage collections, so it is sampled after every round.
    const residents = new Map(all.map(({ name }) => [name, [] as number[]]));
    const pollDue = async (size: Size, due = atOnce): Promise<Sample> => {
      const read = lineUp.remote.counted(size.name, due);
      const makeDue = await size.database.prepareDue(due);
      const sample = await lineUp.measure(due, size.worker, async () => {
        await makeDue();
        await read;
        await size.database.untilNoneIsClaimed();
      });
      polled.set(size.name, polled.get(size.name)! + due);
      residents.get(size.name)!.push((await size.worker.costs()).residentBytes / MEGABYTE);
      return sample;
    };
    // Measures only the second of two polls: the first poll reloads pages and caches that the other sizes displaced.
    const pollRound = async (size: Size): Promise<Sample> => {
      await pollDue(size);
      return pollDue(size);
    };
    // The first response of a session counts as a change, so enough sessions for all rounds are polled in advance.
    for (const size of all) await pollDue(size, Math.min(size.sessions, POLLED_BEFORE * atOnce));
    await sleep(STATISTICS_FLUSH_MS);
    for (const { name } of all) polled.set(name, 0);
    const before = await Promise.all(all.map(({ database }) => database.updates('session_polls')));
    const samples = await interleave(
      [
        ...all.map((size) => ({ name: size.name, round: () => pollRound(size) })),
        { name: again, round: () => pollRound(first) },
      ],
      options.rounds,
    );
    // Closes the connections of the workers, which flushes their statistics.
    for (const { worker } of all) await lineUp.dismiss(worker);
    const after = await Promise.all(all.map(({ database }) => database.updates('session_polls')));
    const claims = await measureClaims(all, options);
    await Promise.all(all.map(({ end }) => end()));

    const rate = (size: Size) => samples.get(size.name)!;
    const claimOf = (size: Size) => median(claims.get(size.name)!);
    const residentOf = (size: Size) => median(residents.get(size.name)!);
    const rates = all.map((size) => ratio(rate(size), rate(first)));
    await report({
      benchmark: 'flat',
      title: 'Flat as it grows',
      extent: `${atOnce} sessions due, none changed, ${IN_FLIGHT} reads in flight, ${options.rounds} rounds; claims of ${CLAIM} with 1 % due`,
      isTrial: options.isTrial,
      control: control(rate(first).map(rateOf), samples.get(again)!.map(rateOf)),
      targets: [
        atLeast('slowest of the sizes, of the rate of the smallest', 0.85, Math.min(...rates)),
        atMost(
          'claim at the largest, times the claim at the smallest',
          2,
          rounded(claimOf(last) / claimOf(first)),
        ),
        atMost(
          'more memory resident at the largest than at the smallest',
          64,
          Math.round(residentOf(last) - residentOf(first)),
          'MB',
        ),
        atMost(
          'rows written per unchanged poll, at the largest',
          1,
          rounded(rowsPerPoll(after.at(-1)!, before.at(-1)!, polled.get(last.name)!), 2),
        ),
      ],
      tables: [
        {
          title: 'Unchanged polls',
          columns: [
            'open sessions',
            'reads/s',
            'least-most',
            'own CPU µs per poll',
            'PostgreSQL CPU µs per poll',
            'WAL bytes per poll',
            'HOT share of updates',
            `claim of ${CLAIM}: ms, median`,
            'ms, 99 %',
            'memory MB, median',
          ],
          rows: all.map((size, index) => {
            const { perSecond, spread, cpuMicroseconds, serverCpuMicroseconds, walBytes } = summarise(
              rate(size),
            );
            const [was, is] = [before[index]!, after[index]!];
            const hot = rounded((is.hot - was.hot) / Math.max(1, is.all - was.all), 2);
            return [
              size.sessions,
              perSecond,
              spread,
              cpuMicroseconds,
              serverCpuMicroseconds,
              walBytes,
              hot,
              ...medianAndTail(claims.get(size.name)!),
              Math.round(residentOf(size)),
            ];
          }),
        },
      ],
      packages: ['axios', 'undici', 'pg'],
      postgresql: lineUp.server.version,
    });
  });
}

async function prepare(lineUp: LineUp, name: string, sessions: number, options: BenchOptions): Promise<Size> {
  const database = await lineUp.database(`sessions_${sessions}`, sessions);
  const worker = await lineUp.contender({
    name,
    script: new URL('./service.process.ts', import.meta.url),
    database,
    concurrency: IN_FLIGHT,
    flags: profileFlags(options),
  });
  const own = new Database(database.environment);
  return {
    name,
    sessions,
    database,
    worker,
    polls: new PollsStore(own, database.environment, new LearnedSchedules()),
    end: () => own.onApplicationShutdown(),
  };
}

/** Measures the duration of claims while 1 % of the sessions is due. Returns the milliseconds of each claim, by size. */
async function measureClaims(sizes: readonly Size[], options: BenchOptions): Promise<Map<string, number[]>> {
  const claimAll = async (size: Size): Promise<number[]> => {
    await size.database.makeDue(Math.max(CLAIM, size.sessions / 100));
    const times: number[] = [];
    for (;;) {
      const startedAt = performance.now();
      const [claimed] = await size.polls.claimDue(CLAIM);
      if (claimed === undefined) return times;
      times.push(performance.now() - startedAt);
      await size.polls.closeBatches([claimed.batchId]);
    }
  };
  const samples = await interleave(
    sizes.map((size) => ({
      name: size.name,
      round: async () => {
        const times: number[] = [];
        while (times.length < CLAIMS) times.push(...(await claimAll(size)));
        return times.slice(0, CLAIMS);
      },
    })),
    options.rounds,
  );
  return new Map([...samples].map(([name, rounds]) => [name, rounds.flat()]));
}

/** Returns the row updates per poll, without the update that made the session due. */
const rowsPerPoll = (
  after: { readonly all: number },
  before: { readonly all: number },
  polled: number,
): number => (after.all - before.all - polled) / polled;
