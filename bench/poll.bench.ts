import { BenchServer, type BenchDatabase } from './harness/database.js';
import type { ContenderCommand, ContenderRequest, Reply } from './harness/contender.js';
import { FakeRemote } from './harness/fake-remote.js';
import { BenchProcess } from './harness/process.js';
import { machineFacts, table, versionsOf, writeResults } from './harness/report.js';
import { interleave, ratio, type Sample, summarise, type Summary, type Contender } from './harness/rounds.js';

export interface PollBenchOptions {
  readonly sessions: number;
  readonly rounds: number;
  readonly latenciesMs: readonly number[];
  /** Writes a .cpuprofile of our poller into this folder. */
  readonly profile?: string;
}

const OURS = 'our poller';
const UNDICI = 'undici alone';
const LOOP = 'loop of 20';
const SEQUENTIAL = 'one by one';
const CONTROL = 'our poller again';

const IN_FLIGHT = 64;
/** The slow ones read only so many of the sessions that are due: enough for a second or more. */
const READS = { [LOOP]: 3_000, [SEQUENTIAL]: 500 };

/** Our poller beside what bounds it and what most people write, in one run. */
export async function pollBench(options: PollBenchOptions): Promise<void> {
  const { sessions, rounds } = options;
  // A minute ago, in whole seconds as the interface writes them.
  const startedAtMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
  const server = await BenchServer.start();
  const remote = await FakeRemote.start({
    startedAtMs,
    sessions,
    contenders: [UNDICI, OURS, LOOP, SEQUENTIAL],
  });
  const ours = await server.createDatabase('ours', sessions, startedAtMs);
  const theirs = await server.createDatabase('theirs', sessions, startedAtMs);
  const start = async (
    name: string,
    script: string,
    concurrency: number,
    database: BenchDatabase,
    flags?: string[],
  ) => {
    const child = BenchProcess.start(new URL(script, import.meta.url), flags);
    const request: ContenderRequest = { remoteUrl: remote.url(name), databaseUrl: database.url, concurrency };
    await child.ask<Reply>(request, ({ kind }) => kind === 'ready');
    return child;
  };
  const flags = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const undici = await start(UNDICI, './baselines/undici.process.ts', IN_FLIGHT, theirs);
  const poller = await start(OURS, './poller.process.ts', IN_FLIGHT, ours, flags);
  const loop = await start(LOOP, './baselines/prisma-loop.process.ts', 20, theirs);
  const sequential = await start(SEQUENTIAL, './baselines/prisma-loop.process.ts', 1, theirs);

  const measure = async (
    reads: number,
    child: BenchProcess,
    work: () => Promise<unknown>,
  ): Promise<Sample> => {
    const costs = async () => ({
      own: (await child.ask<Reply>({ kind: 'cpu' } satisfies ContenderCommand, ({ kind }) => kind === 'cpu'))
        .cpuMicroseconds!,
      server: await server.cpuMicroseconds(),
      wal: await ours.walBytes(),
    });
    const before = await costs();
    const startedAt = performance.now();
    await work();
    const elapsedMs = performance.now() - startedAt;
    const after = await costs();
    return {
      reads,
      elapsedMs,
      cpuMicroseconds: after.own - before.own,
      serverCpuMicroseconds:
        after.server === null || before.server === null ? null : after.server - before.server,
      walBytes: after.wal - before.wal,
    };
  };
  const run = (child: BenchProcess, reads: number) => () =>
    child.ask<Reply>({ kind: 'run', reads } satisfies ContenderCommand, ({ kind }) => kind === 'done');
  const pollerRound = async (): Promise<Sample> => {
    const all = remote.counted(OURS, sessions);
    await ours.makeAllDue();
    return measure(sessions, poller, async () => {
      await all;
      await ours.untilNoneIsClaimed();
    });
  };
  const loopRound = async (child: BenchProcess, reads: number): Promise<Sample> => {
    await theirs.makeAllDue();
    return measure(reads, child, run(child, reads));
  };
  const contenders: Contender[] = [
    { name: UNDICI, round: () => measure(sessions, undici, run(undici, sessions)) },
    { name: OURS, round: pollerRound },
    { name: LOOP, round: () => loopRound(loop, READS[LOOP]) },
    { name: SEQUENTIAL, round: () => loopRound(sequential, READS[SEQUENTIAL]) },
    { name: CONTROL, round: pollerRound },
  ];

  const cells = [];
  for (const latencyMs of options.latenciesMs) {
    remote.setLatency(latencyMs);
    await ours.resetStatements();
    const samples = await interleave(contenders, rounds);
    const summaries = [...samples].map(([name, list]) => summarise(name, list));
    const ofOurs = samples.get(OURS)!;
    const ratios = Object.fromEntries(
      [...samples].filter(([name]) => name !== OURS).map(([name, list]) => [name, ratio(ofOurs, list)]),
    );
    cells.push({ latencyMs, contenders: summaries, ratios, statements: await ours.statements() });
    print(latencyMs, summaries, ratios);
  }
  for (const child of [undici, poller, loop, sequential]) await child.stop();
  await Promise.all([ours.close(), theirs.close(), remote.stop()]);
  await server.stop();

  await writeResults('poll', {
    benchmark: 'poll',
    sessions,
    changedPerPass: sessions / 50,
    rounds,
    machine: machineFacts(),
    versions: {
      postgresql: server.version,
      ...versionsOf(['@nestjs/core', '@prisma/client', 'axios', 'pg', 'undici']),
    },
    cells,
  });
}

function print(
  latencyMs: number,
  summaries: readonly Summary[],
  ratios: Readonly<Record<string, number>>,
): void {
  const rows = summaries.map(({ name, perSecond, cpuMicroseconds, serverCpuMicroseconds, walBytes }) => [
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
