import { JOBS } from './baselines/engine-read.js';
import { profileTable, statementTable } from './harness/cost-tables.js';
import type { BenchDatabase, StatementCost } from './harness/database.js';
import { LineUp } from './harness/line-up.js';
import type { Participant } from './harness/participant.js';
import { report } from './harness/report.js';
import { atLeast, atMost, type ResultTable, type Target } from './harness/result.js';
import {
  type Contender,
  control,
  interleave,
  rateOf,
  ratio,
  type Sample,
  summarise,
} from './harness/rounds.js';
import { type BenchOptions, profileFlags } from './options.js';

const UNDICI = 'undici alone';
const OURS = 'our poller';
const LOOP = 'Prisma, 20 at a time';
const SEQUENTIAL = 'Prisma, one by one';
const GRAPHILE = 'graphile-worker job per poll';
const TUNED = 'the same with its local queue';
const PG_BOSS = 'pg-boss job per poll';
/** Our poller a second time. The distance of the two rates' ratio from 1 is the error of all figures. */
const CONTROL = 'our poller again';

const LATENCIES_MS = [0, 20];
/** Enough that a round takes seconds, because the first tick and the last writes of a round take 0.15 s. */
const SESSIONS = 60_000;
/** At a latency of 20 ms, this allows 12,800 reads per second. */
const IN_FLIGHT = 256;
/** More concurrent jobs slow the job engines down. */
const JOBS_IN_FLIGHT = 64;
/** Reads per round of the contender LOOP, which is slow: enough for a second or more. */
const LOOP_READS = 3_000;
/** Reads per round of the contender SEQUENTIAL, the slowest. */
const SEQUENTIAL_READS = 500;

type Samples = ReadonlyMap<string, readonly Sample[]>;

const script = (file: string) => new URL(file, import.meta.url);

export async function pollBench(options: BenchOptions): Promise<void> {
  const sessions = options.quick ? 6_000 : SESSIONS;
  const remotes = [UNDICI, OURS, LOOP, SEQUENTIAL, GRAPHILE, TUNED, PG_BOSS];
  await LineUp.with({ sessions, remotes }, async (lineUp) => {
    const { contenders, poller, pollerRound, statementsOfRounds } = await prepare(lineUp, sessions, options);
    // The first response of a session counts as a change, so the first round is not measured.
    await pollerRound();
    const cells: { latencyMs: number; samples: Samples; statements: StatementCost[] }[] = [];
    for (const latencyMs of LATENCIES_MS) {
      lineUp.remote.setLatency(latencyMs);
      statementsOfRounds.length = 0;
      const samples = await interleave(contenders, options.rounds);
      cells.push({ latencyMs, samples, statements: sumOf(statementsOfRounds) });
    }
    lineUp.remote.setLatency(0);
    const profile = await poller.profile(pollerRound);
    const [fast, slow] = cells.map(({ samples }) => samples);
    // Our poller runs twice per round, and the statements include the warm-up round.
    const reads = 2 * (options.rounds + 1) * sessions;
    await report({
      benchmark: 'poll',
      title: 'Poller',
      extent: `${sessions} sessions due at once, one in 50 of them changed, ${IN_FLIGHT} reads in flight (${JOBS_IN_FLIGHT} jobs), ${options.rounds} rounds`,
      isTrial: options.isTrial,
      control: controlOf(cells.map(({ samples }) => samples)),
      targets: targetsOf(fast!, slow!),
      tables: [
        ...cells.map(({ latencyMs, samples }) => tableOf(latencyMs, samples)),
        profileTable('Where the CPU of our poller goes, zero latency', profile),
        statementTable(
          'Statements of our poller, zero latency',
          cells[0]!.statements.filter(isOfPoller),
          'read',
          reads,
        ),
      ],
      packages: ['axios', 'undici', 'pg', '@prisma/client', 'graphile-worker', 'pg-boss', '@nestjs/core'],
      postgresql: lineUp.server.version,
      details: { statements: cells.map(({ latencyMs, statements }) => ({ latencyMs, statements })) },
    });
  });
}

async function prepare(lineUp: LineUp, sessions: number, options: BenchOptions) {
  const ours = await lineUp.database('ours');
  const theirs = await lineUp.database('theirs');
  const engines = await lineUp.database('engines', JOBS);
  const baseline = (
    name: string,
    file: string,
    concurrency = IN_FLIGHT,
    database = theirs,
    environment = {},
  ) =>
    lineUp.contender({
      name,
      script: script(`./baselines/${file}.process.ts`),
      database,
      concurrency,
      environment,
    });

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
  const tunedDatabase = await lineUp.database('tuned', JOBS);
  const graphile = await baseline(GRAPHILE, 'graphile-worker', JOBS_IN_FLIGHT, engines);
  const tuned = await baseline(TUNED, 'graphile-worker', JOBS_IN_FLIGHT, tunedDatabase, { TUNED: '1' });
  const pgBoss = await baseline(PG_BOSS, 'pg-boss', JOBS_IN_FLIGHT, engines);

  const statementsOfRounds: StatementCost[][] = [];
  const pollerRound = async (): Promise<Sample> => {
    const all = lineUp.remote.counted(OURS, sessions);
    const makeDue = await ours.prepareDue();
    // Excludes the statements of the idle poller while the other contenders ran.
    await ours.resetStatements();
    const sample = await lineUp.measure(sessions, poller, async () => {
      await makeDue();
      await all;
      await ours.untilNoneIsClaimed();
    });
    statementsOfRounds.push(await ours.statements());
    return sample;
  };
  const loopRound = async (child: Participant, reads: number): Promise<Sample> => {
    await theirs.makeDue();
    return lineUp.measure(reads, child, () => child.run(reads));
  };
  const engineRound = async (
    child: Participant,
    database: BenchDatabase,
    { table, update }: typeof GRAPHILE_JOBS,
  ): Promise<Sample> => {
    const done = child.run(JOBS);
    const makeDue = await database.prepareWork(table, update);
    return lineUp.measure(JOBS, child, async () => {
      await makeDue();
      await done;
    });
  };
  const contenders: Contender[] = [
    { name: UNDICI, round: () => lineUp.measure(sessions, undici, () => undici.run(sessions)) },
    { name: OURS, round: pollerRound },
    { name: LOOP, round: () => loopRound(loop, Math.min(LOOP_READS, sessions)) },
    { name: SEQUENTIAL, round: () => loopRound(sequential, Math.min(SEQUENTIAL_READS, sessions)) },
    { name: GRAPHILE, round: () => engineRound(graphile, engines, GRAPHILE_JOBS) },
    { name: TUNED, round: () => engineRound(tuned, tunedDatabase, GRAPHILE_JOBS) },
    { name: PG_BOSS, round: () => engineRound(pgBoss, engines, PG_BOSS_JOBS) },
    { name: CONTROL, round: pollerRound },
  ];
  return { contenders, poller, pollerRound, statementsOfRounds };
}

const GRAPHILE_JOBS = {
  table: 'graphile_worker._private_jobs',
  update: 'UPDATE graphile_worker._private_jobs SET run_at = now()',
};
const PG_BOSS_JOBS = {
  table: 'pgboss.job',
  update: `UPDATE pgboss.job SET start_after = now() WHERE name = 'poll' AND state = 'created'`,
};

function sumOf(rounds: readonly (readonly StatementCost[])[]): StatementCost[] {
  const byText = new Map<string, StatementCost>();
  for (const cost of rounds.flat()) {
    const { calls, rows, totalMs, walBytes } = byText.get(cost.text) ?? NOTHING;
    byText.set(cost.text, {
      text: cost.text,
      calls: calls + cost.calls,
      rows: rows + cost.rows,
      totalMs: totalMs + cost.totalMs,
      walBytes: walBytes + cost.walBytes,
    });
  }
  return [...byText.values()].toSorted((one, other) => other.totalMs - one.totalMs).slice(0, 12);
}

const NOTHING = { calls: 0, rows: 0, totalMs: 0, walBytes: 0 };

/** Excludes the statement of `untilNoneIsClaimed`. */
const isOfPoller = ({ text }: StatementCost): boolean => !/^SELECT \$1/.test(text);

/** Returns the control whose ratio is furthest from 1. */
function controlOf(cells: readonly Samples[]) {
  const distance = ({ ratio: value }: ReturnType<typeof control>) => Math.abs(Math.log(value));
  return cells
    .map((samples) => control(samples.get(OURS)!.map(rateOf), samples.get(CONTROL)!.map(rateOf)))
    .reduce((worst, next) => (distance(next) > distance(worst) ? next : worst));
}

function targetsOf(fast: Samples, slow: Samples): Target[] {
  const against = (samples: Samples, other: string) => ratio(samples.get(OURS)!, samples.get(other)!);
  const serverCpu = summarise(fast.get(OURS)!).serverCpuMicroseconds;
  return [
    atLeast('of undici alone, zero latency', 0.4, against(fast, UNDICI)),
    atLeast('of undici alone, 20 ms', 0.85, against(slow, UNDICI)),
    atLeast('times the Prisma loop of 20, 20 ms', 12, against(slow, LOOP)),
    atLeast('times the Prisma loop one by one, 20 ms', 200, against(slow, SEQUENTIAL)),
    atLeast('times a graphile-worker job per poll, zero latency', 6, against(fast, GRAPHILE)),
    atLeast('times a pg-boss job per poll, zero latency', 6, against(fast, PG_BOSS)),
    ...(serverCpu === null ? [] : [atMost('PostgreSQL CPU per poll, zero latency', 10, serverCpu, 'µs')]),
  ];
}

function tableOf(latencyMs: number, samples: Samples): ResultTable {
  const ours = samples.get(OURS)!;
  return {
    title:
      latencyMs === 0
        ? 'The remote service responds at once'
        : `The remote service responds after ${latencyMs} ms`,
    columns: [
      'contender',
      'reads/s',
      'least-most',
      'own CPU µs per read',
      'PostgreSQL CPU µs per read',
      'WAL bytes per read',
      'ours against it',
    ],
    bar: 1,
    rows: [...samples].map(([name, list]) => {
      const { perSecond, spread, cpuMicroseconds, serverCpuMicroseconds, walBytes } = summarise(list);
      const against = name === OURS ? null : ratio(ours, list);
      return [name, perSecond, spread, cpuMicroseconds, serverCpuMicroseconds, walBytes, against];
    }),
  };
}
