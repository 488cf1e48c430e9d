import type { StatementCost } from './harness/database.js';
import { LineUp, run } from './harness/line-up.js';
import type { BenchProcess } from './harness/process.js';
import { machineFacts, table, versionsOf, writeResults } from './harness/report.js';
import { type Contender, interleave, ratio, type Sample, summarise, type Summary } from './harness/rounds.js';
import { CHANGE_EVERY } from './harness/sessions.js';

export interface PollBenchOptions {
  readonly sessions: number;
  readonly rounds: number;
  readonly latenciesMs: readonly number[];
  /** Writes a .cpuprofile of our poller into this folder. */
  readonly profile?: string;
}

interface Cell {
  readonly latencyMs: number;
  readonly contenders: readonly Summary[];
  /** How many times as fast our poller was. */
  readonly ratios: Readonly<Record<string, number>>;
  /** Where the time of our statements went. */
  readonly statements: readonly StatementCost[];
}

const UNDICI = 'undici alone';
const OURS = 'our poller';
const LOOP = 'loop of 20';
const SEQUENTIAL = 'one by one';
/** The same thing twice: how far its ratio is from 1 tells what the others are worth. */
const CONTROL = 'our poller again';

const IN_FLIGHT = 64;
/** The slow ones read only so many of the sessions that are due: enough for a second or more. */
const LOOP_READS = 3_000;
const SEQUENTIAL_READS = 500;

const script = (file: string) => new URL(file, import.meta.url);

/** Our poller beside what bounds it and beside what most people write, in one run. Writes bench/results/poll.json. */
export async function pollBench(options: PollBenchOptions): Promise<void> {
  const { sessions, rounds, latenciesMs } = options;
  await LineUp.with(sessions, [UNDICI, OURS, LOOP, SEQUENTIAL], async (lineUp) => {
    const { contenders, statements } = await prepare(lineUp, options);
    const cells: Cell[] = [];
    for (const latencyMs of latenciesMs) {
      lineUp.remote.setLatency(latencyMs);
      await statements.reset();
      const cell = {
        ...compare(latencyMs, await interleave(contenders, rounds)),
        statements: await statements.read(),
      };
      print(cell);
      cells.push(cell);
    }
    await writeResults('poll', {
      benchmark: 'poll',
      sessions,
      changedPerPass: sessions / CHANGE_EVERY,
      rounds,
      machine: machineFacts(),
      versions: {
        postgresql: lineUp.server.version,
        ...versionsOf(['@nestjs/core', '@prisma/client', 'axios', 'pg', 'undici']),
      },
      cells,
    });
  });
}

async function prepare(lineUp: LineUp, { sessions, profile }: PollBenchOptions) {
  const ours = await lineUp.database('ours');
  const theirs = await lineUp.database('theirs');
  const loopOf = (name: string, concurrency: number) =>
    lineUp.contender({
      name,
      script: script('./baselines/prisma-loop.process.ts'),
      database: theirs,
      concurrency,
    });
  const undici = await lineUp.contender({
    name: UNDICI,
    script: script('./baselines/undici.process.ts'),
    database: theirs,
    concurrency: IN_FLIGHT,
  });
  const poller = await lineUp.contender({
    name: OURS,
    script: script('./poller.process.ts'),
    database: ours,
    concurrency: IN_FLIGHT,
    flags: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  });
  const loop = await loopOf(LOOP, 20);
  const sequential = await loopOf(SEQUENTIAL, 1);

  const pollerRound = async (): Promise<Sample> => {
    const all = lineUp.remote.counted(OURS, sessions);
    await ours.makeAllDue();
    return lineUp.measure(sessions, poller, async () => {
      await all;
      await ours.untilNoneIsClaimed();
    });
  };
  const loopRound = async (child: BenchProcess, reads: number): Promise<Sample> => {
    await theirs.makeAllDue();
    return lineUp.measure(reads, child, () => run(child, reads));
  };
  const contenders: Contender[] = [
    { name: UNDICI, round: () => lineUp.measure(sessions, undici, () => run(undici, sessions)) },
    { name: OURS, round: pollerRound },
    { name: LOOP, round: () => loopRound(loop, Math.min(LOOP_READS, sessions)) },
    { name: SEQUENTIAL, round: () => loopRound(sequential, Math.min(SEQUENTIAL_READS, sessions)) },
    { name: CONTROL, round: pollerRound },
  ];
  return {
    contenders,
    statements: { reset: () => ours.resetStatements(), read: () => ours.statements() },
  };
}

function compare(latencyMs: number, samples: ReadonlyMap<string, readonly Sample[]>) {
  const ours = samples.get(OURS)!;
  const others = [...samples].filter(([name]) => name !== OURS);
  return {
    latencyMs,
    contenders: [...samples].map(([name, list]) => summarise(name, list)),
    ratios: Object.fromEntries(others.map(([name, list]) => [name, ratio(ours, list)])),
  };
}

function print({ latencyMs, contenders, ratios }: Cell): void {
  const rows = contenders.map(({ name, perSecond, cpuMicroseconds, serverCpuMicroseconds, walBytes }) => [
    name,
    String(perSecond.median),
    `${perSecond.least}-${perSecond.most}`,
    String(cpuMicroseconds),
    serverCpuMicroseconds === null ? 'unknown' : String(serverCpuMicroseconds),
    String(walBytes),
    name === OURS ? '' : `x ${ratios[name]}`,
  ]);
  const head = [
    '',
    'reads/s',
    'least-most',
    'own CPU µs',
    'PostgreSQL CPU µs',
    'WAL bytes',
    'ours against it',
  ];
  console.log(
    `\nThe remote service answers after ${latencyMs} ms; CPU and WAL per read\n${table([head, ...rows])}`,
  );
}
