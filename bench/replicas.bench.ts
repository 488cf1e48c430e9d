import { LineUp } from './harness/line-up.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast, atMost } from './harness/result.js';
import { control, interleave, rateOf, type Sample, summarise } from './harness/rounds.js';
import { median, rounded } from './harness/statistics.js';
import type { BenchOptions } from './options.js';

const REMOTE_MS = 20;
/** Concurrent reads per process. At a latency of 20 ms, a process makes 800 reads per second, so that four processes do not saturate the CPU. */
const IN_FLIGHT = 16;
const COUNTS = [1, 2, 4];
/** The ceiling for all processes together, in requests per second. */
const CEILING = 1_000;
const FREE = 'no ceiling';
const CEILED = 'a ceiling of all';

/** Measures how the read rate grows with the number of processes while neither the CPU nor the remote service limits the rate. */
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

    const workers: Participant[] = [];
    const round = (count: number) => async (): Promise<Sample> => {
      // Stops surplus workers, which would otherwise share the reads.
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
    /** Warms up new processes: the JIT compiles their code, and their concurrency limit adapts. */
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
    const samples = await interleave(contenders, options.rounds);
    while (workers.length > 0) await lineUp.dismiss(workers.pop()!);

    const ceiledFlow = await underCeiling();
    const one = samples.get(nameOf(1))!;
    /** Returns the rate of `count` processes, divided by `count` times the rate of one process. */
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
      isTrial: options.isTrial,
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
      // Waits until each process has counted the others.
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
