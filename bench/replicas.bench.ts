import { LineUp } from './harness/line-up.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast, atMost } from './harness/result.js';
import { control, interleave, rateOf, type Sample, summarise } from './harness/rounds.js';
import { median, rounded } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

const REMOTE_MS = 20;
/** Reads at once of one process: with 20 ms each, at most 800 a second, so that four of them still leave the cores some room. */
const IN_FLIGHT = 16;
const COUNTS = [1, 2, 4];
/** Of all processes together, where a ceiling is set. */
const CEILING = 1_000;
const FREE = 'no ceiling';
const CEILED = 'a ceiling of all';

/** More processes, as long as neither the cores nor the remote service are the limit. */
export async function replicasBench(options: BenchOptions): Promise<void> {
  const readsOfOne = options.quick ? 1_500 : 5_000;
  const sessions = readsOfOne * Math.max(...COUNTS);
  await LineUp.with({ sessions, remotes: [FREE, CEILED] }, async (lineUp) => {
    lineUp.remote.setLatency(REMOTE_MS);
    const free = await lineUp.database('free');
    const ceiled = await lineUp.database('ceiled');
    const script = new URL('./service.process.ts', import.meta.url);
    const start = (name: string, database: typeof free, environment = {}) =>
      lineUp.contender({ name, script, database, concurrency: IN_FLIGHT, environment });

    const samples = new Map<string, Sample[]>();
    const workers: Participant[] = [];
    const round = (count: number) => async (): Promise<Sample> => {
      // Those that a round has no use for would take their share all the same.
      while (workers.length > count) await lineUp.dismiss(workers.pop()!);
      while (workers.length < count) workers.push(await start(FREE, free));
      await warmUp();
      const reads = readsOfOne * count;
      const all = lineUp.remote.counted(FREE, reads);
      const makeDue = await free.prepareDue(reads);
      return lineUp.measure(reads, workers, async () => {
        await makeDue();
        await all;
        await free.untilNoneIsClaimed();
      });
    };
    /** A new process is compiled as it runs, and learns how much the remote service takes. */
    const warmUp = async (): Promise<void> => {
      const reads = 400 * workers.length;
      const all = lineUp.remote.counted(FREE, reads);
      await free.makeDue(reads);
      await all;
      await free.untilNoneIsClaimed();
    };
    const nameOf = (count: number) => `${count} ${count === 1 ? 'process' : 'processes'}`;
    const again = `${nameOf(1)} again`;
    const contenders = [
      ...COUNTS.map((count) => ({ name: nameOf(count), round: round(count) })),
      { name: again, round: round(1) },
    ];
    for (const [name, list] of await interleave(contenders, options.rounds)) samples.set(name, list);
    while (workers.length > 0) await lineUp.dismiss(workers.pop()!);

    const ceiledFlow = await underCeiling();
    const one = samples.get(nameOf(1))!;
    /** Of the rate of one process times their number, round by round. */
    const scaling = (count: number) =>
      rounded(
        median(
          samples.get(nameOf(count))!.map((sample, nth) => rateOf(sample) / (count * rateOf(one[nth]!))),
        ),
      );
    await report({
      benchmark: 'replicas',
      title: 'Replicas',
      extent: `${readsOfOne} reads per process and round, ${IN_FLIGHT} in flight per process, ${REMOTE_MS} ms remote latency, ${options.rounds} rounds`,
      isLook: options.isLook,
      control: control(one.map(rateOf), samples.get(again)!.map(rateOf)),
      targets: [
        ...COUNTS.slice(1).map((count) =>
          atLeast(`${count} processes, of ${count} times the rate of one`, 0.9, scaling(count)),
        ),
        atMost(
          'most requests in any second of 4 processes, of their common ceiling and its burst of a tenth',
          1.1,
          rounded(ceiledFlow.peakPerSecond / CEILING),
        ),
      ],
      tables: [
        {
          title: 'Reads of all processes together',
          columns: ['', 'reads/s', 'least-most', 'own CPU µs per read', 'PostgreSQL CPU µs per read'],
          bar: 1,
          rows: [
            ...[...samples].map(([name, list]) => {
              const { perSecond, spread, cpuMicroseconds, serverCpuMicroseconds } = summarise(list);
              return [name, perSecond, spread, cpuMicroseconds, serverCpuMicroseconds];
            }),
            [
              `4 processes that share a ceiling of ${CEILING}/s`,
              ceiledFlow.perSecond,
              `at most ${ceiledFlow.peakPerSecond}`,
              null,
              null,
            ],
          ],
        },
      ],
      packages: ['axios', 'undici', 'pg'],
      postgresql: lineUp.server.version,
    });

    async function underCeiling() {
      const environment = { SCS_MAX_REQUESTS_PER_SECOND: String(CEILING) };
      for (let started = 0; started < 4; started++) workers.push(await start(CEILED, ceiled, environment));
      // Until each knows how many they are.
      await new Promise((resolve) => setTimeout(resolve, 7_000));
      await lineUp.remote.flow(CEILED);
      const reads = CEILING * (options.quick ? 2 : 10);
      const all = lineUp.remote.counted(CEILED, reads);
      await ceiled.makeDue(reads);
      const startedAt = performance.now();
      await all;
      const seconds = (performance.now() - startedAt) / 1_000;
      const { peakPerSecond, requests } = await lineUp.remote.flow(CEILED);
      return { peakPerSecond, perSecond: Math.round(requests / seconds) };
    }
  });
}
