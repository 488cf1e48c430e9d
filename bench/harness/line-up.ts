import type { ContenderCommand, ContenderRequest, Reply } from './contender.js';
import { type BenchDatabase, BenchServer } from './database.js';
import { FakeRemote } from './fake-remote.js';
import { BenchProcess } from './process.js';
import type { Sample } from './rounds.js';

export interface ContenderOptions {
  readonly name: string;
  readonly script: URL;
  readonly database: BenchDatabase;
  /** Reads at once. */
  readonly concurrency: number;
  /** Of Node. */
  readonly flags?: readonly string[];
}

/** Everything a comparison needs, each in a process of its own: PostgreSQL, the fake remote service, and the contenders. */
export class LineUp {
  private readonly started: { stop(): Promise<void> }[] = [];

  private constructor(
    readonly server: BenchServer,
    readonly remote: FakeRemote,
    private readonly sessions: number,
    private readonly startedAtMs: number,
  ) {}

  /** `work` may fail or be done: nothing is left running. */
  static async with(
    sessions: number,
    contenders: readonly string[],
    work: (lineUp: LineUp) => Promise<void>,
  ): Promise<void> {
    // A minute ago, in whole seconds as the interface writes them.
    const startedAtMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
    const server = await BenchServer.start();
    const remote = await FakeRemote.start({ startedAtMs, sessions, contenders });
    const lineUp = new LineUp(server, remote, sessions, startedAtMs);
    try {
      await work(lineUp);
    } finally {
      for (const part of lineUp.started.toReversed()) await part.stop();
      await remote.stop();
      await server.stop();
    }
  }

  async database(name: string): Promise<BenchDatabase> {
    const database = await this.server.createDatabase(name, this.sessions, this.startedAtMs);
    this.started.push(database);
    return database;
  }

  async contender({ name, script, database, concurrency, flags }: ContenderOptions): Promise<BenchProcess> {
    const child = BenchProcess.start(script, flags);
    this.started.push(child);
    const request: ContenderRequest = {
      remoteUrl: this.remote.url(name),
      databaseUrl: database.url,
      concurrency,
    };
    await child.ask<Reply>(request, ({ kind }) => kind === 'ready');
    return child;
  }

  /** Takes the time of `work`, and what it costs the contender and PostgreSQL. */
  async measure(reads: number, child: BenchProcess, work: () => Promise<unknown>): Promise<Sample> {
    const before = await this.costs(child);
    const startedAt = performance.now();
    await work();
    const elapsedMs = performance.now() - startedAt;
    const after = await this.costs(child);
    return {
      reads,
      elapsedMs,
      cpuMicroseconds: after.own - before.own,
      serverCpuMicroseconds:
        after.server === null || before.server === null ? null : after.server - before.server,
      walBytes: after.wal - before.wal,
    };
  }

  private async costs(child: BenchProcess) {
    const command: ContenderCommand = { kind: 'cpu' };
    const { cpuMicroseconds } = await child.ask<Reply>(command, ({ kind }) => kind === 'cpu');
    return {
      own: cpuMicroseconds ?? 0,
      server: await this.server.cpuMicroseconds(),
      wal: await this.server.walBytes(),
    };
  }
}

/** Lets a contender that waits to be told read so many sessions. */
export async function run(child: BenchProcess, reads: number): Promise<void> {
  await child.ask<Reply>({ kind: 'run', reads } satisfies ContenderCommand, ({ kind }) => kind === 'done');
}
