import { JOBS } from './baselines/engine-read.js';
import { LineUp } from './harness/line-up.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast, type Target } from './harness/result.js';
import { control, interleave, rateOf, rateTable, ratio } from './harness/rounds.js';
import type { Contender, Sample } from './harness/rounds.js';
import { type BenchOptions, profileFlags } from './options.js';

const UNDICI = 'undici alone';
const OURS = 'our poller';
const LOOP = 'Prisma, 20 at a time';
const SEQUENTIAL = 'Prisma, one by one';
const PG_BOSS = 'pg-boss job per poll';
/**
 * Our poller is measured twice. The ratio of the two rates would be 1 without noise, so its distance from 1 is the error of all figures.
 */
const CONTROL = 'our poller again';

const LATENCIES_MS = [0, 20];
/** The number of sessions. A round takes seconds, so that the 0.15 s of its first tick and last writes hardly matter. */
const SESSIONS = 60_000;
/** At a latency of 20 ms, this allows 12,800 reads per second. */
const IN_FLIGHT = 256;
/** More concurrent jobs slow the job engine down. */
const JOBS_IN_FLIGHT = 64;
/** Reads per round of the contender LOOP, which is slow: enough for a second or more. */
const LOOP_READS = 3_000;
/** Reads per round of the contender SEQUENTIAL, the slowest. */
const SEQUENTIAL_READS = 500;

type Samples = ReadonlyMap<string, readonly Sample[]>;

const script = (file: string) => new URL(file, import.meta.url);

export async function pollBench(options: BenchOptions): Promise<void> {
  const sessions = options.quick ? 6_000 : SESSIONS;
  const remotes = [UNDICI, OURS, LOOP, SEQUENTIAL, PG_BOSS];
  await LineUp.with({ sessions, remotes }, async (lineUp) => {
    const { contenders, pollerRound } = await prepare(lineUp, sessions, options);
    // The first response of a session counts as a change, so the first round is not measured.
    await pollerRound();
    const cells: { latencyMs: number; samples: Samples }[] = [];
    for (const latencyMs of LATENCIES_MS) {
      lineUp.remote.setLatency(latencyMs);
      cells.push({ latencyMs, samples: await interleave(contenders, options.rounds) });
    }
    const [, slow] = cells.map(({ samples }) => samples);
    await report({
      benchmark: 'poll',
      title: 'Poller',
      extent: `${sessions} sessions due at once, one in 50 of them changed, ${IN_FLIGHT} reads in flight (${JOBS_IN_FLIGHT} jobs), ${options.rounds} rounds`,
      isTrial: options.isTrial,
      control: controlOf(cells.map(({ samples }) => samples)),
      targets: targetsOf(slow!),
      tables: cells.map(({ latencyMs, samples }) => tableOf(latencyMs, samples)),
      packages: ['axios', 'undici', 'pg', '@prisma/client', 'pg-boss', '@nestjs/core'],
      postgresql: lineUp.server.version,
    });
  });
}

async function prepare(lineUp: LineUp, sessions: number, options: BenchOptions) {
  const ours = await lineUp.database('ours');
  const theirs = await lineUp.database('theirs');
  const engines = await lineUp.database('engines', JOBS);
  const baseline = (name: string, file: string, concurrency = IN_FLIGHT, database = theirs) =>
    lineUp.contender({ name, script: script(`./baselines/${file}.process.ts`), database, concurrency });

  const undici = await baseline(UNDICI, 'undici');
  const poller = await lineUp.contender({
    name: OURS,
    script: script('./service.process.ts'),
    database: ours,
    concurrency: IN_FLIGHT,
    flags: profileFlags(options),
  });
  const loop = await baseline(LOOP, 'prisma-loop', 20);
  const sequential = await baseline(SEQUENTIAL, 'prisma-loop', 1);
  const pgBoss = await baseline(PG_BOSS, 'pg-boss', JOBS_IN_FLIGHT, engines);

  const pollerRound = async (): Promise<Sample> => {
    const all = lineUp.remote.counted(OURS, sessions);
    const makeDue = await ours.prepareDue();
    return lineUp.measure(sessions, poller, async () => {
      await makeDue();
      await all;
      await ours.untilNoneIsClaimed();
    });
  };
  const loopRound = async (child: Participant, reads: number): Promise<Sample> => {
    await theirs.makeDue();
    return lineUp.measure(reads, child, () => child.run(reads));
  };
  const pgBossRound = async (): Promise<Sample> => {
    const done = pgBoss.run(JOBS);
    const makeDue = await engines.prepareWork('pgboss.job', MAKE_JOBS_DUE);
    return lineUp.measure(JOBS, pgBoss, async () => {
      await makeDue();
      await done;
    });
  };
  const contenders: Contender[] = [
    { name: UNDICI, round: () => lineUp.measure(sessions, undici, () => undici.run(sessions)) },
    { name: OURS, round: pollerRound },
    { name: LOOP, round: () => loopRound(loop, Math.min(LOOP_READS, sessions)) },
    { name: SEQUENTIAL, round: () => loopRound(sequential, Math.min(SEQUENTIAL_READS, sessions)) },
    { name: PG_BOSS, round: pgBossRound },
    { name: CONTROL, round: pollerRound },
  ];
  return { contenders, pollerRound };
}

const MAKE_JOBS_DUE = `UPDATE pgboss.job SET start_after = now() WHERE name = 'poll' AND state = 'created'`;

/** Returns the control whose ratio is furthest from 1. */
function controlOf(cells: readonly Samples[]) {
  const distance = ({ ratio: value }: ReturnType<typeof control>) => Math.abs(Math.log(value));
  return cells
    .map((samples) => control(samples.get(OURS)!.map(rateOf), samples.get(CONTROL)!.map(rateOf)))
    .reduce((worst, next) => (distance(next) > distance(worst) ? next : worst));
}

const targetsOf = (slow: Samples): Target[] => [
  atLeast('times the Prisma loop of 20, 20 ms', 12, ratio(slow.get(OURS)!, slow.get(LOOP)!)),
];

const tableOf = (latencyMs: number, samples: Samples) =>
  rateTable(
    `The remote service responds ${latencyMs === 0 ? 'at once' : `after ${latencyMs} ms`}`,
    'read',
    samples,
    [OURS, 'ours against it'],
  );
