import type { ProcessCosts } from './contender.js';
import { type BenchDatabase, BenchServer } from './database.js';
import { FakeRemote } from './fake-remote.js';
import { Participant } from './participant.js';
import type { Sample } from './rounds.js';

export interface ContenderOptions {
  /** Names its port of the remote service; several may share one. */
  readonly name: string;
  readonly script: URL;
  readonly database: BenchDatabase;
  /** Calls at once. */
  readonly concurrency: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Of Node. */
  readonly flags?: readonly string[];
}

export interface LineUpOptions {
  /** That the remote service knows of, and that a database has unless it says otherwise. */
  readonly sessions: number;
  /** Ports of the remote service. */
  readonly remotes: readonly string[];
  /** Whether one in fifty sessions changes each time that all are read. */
  readonly changes?: boolean;
  /** Whether PostgreSQL keeps its own settings, checkpoints and all: for what is not compared. */
  readonly asItComes?: boolean;
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
    { sessions, remotes, changes = true, asItComes = false }: LineUpOptions,
    work: (lineUp: LineUp) => Promise<void>,
  ): Promise<void> {
    // A minute ago, in whole seconds as the interface writes them.
    const startedAtMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
    const server = await BenchServer.start(asItComes);
    const remote = await FakeRemote.start({ startedAtMs, sessions, contenders: remotes, changes });
    const lineUp = new LineUp(server, remote, sessions, startedAtMs);
    try {
      await work(lineUp);
    } finally {
      for (const part of lineUp.started.toReversed()) await part.stop();
      await remote.stop();
      await server.stop();
    }
  }

  async database(name: string, sessions = this.sessions): Promise<BenchDatabase> {
    const database = await this.server.createDatabase(name, sessions, this.startedAtMs);
    this.started.push(database);
    return database;
  }

  async contender(options: ContenderOptions): Promise<Participant> {
    const { name, script, database, concurrency, environment, flags } = options;
    const remoteUrl = this.remote.url(name);
    const request = { remoteUrl, databaseUrl: database.url, concurrency, environment };
    const participant = await Participant.start(script, request, flags);
    this.started.push(participant);
    return participant;
  }

  /** Ends it before the others, where a benchmark goes through several. */
  async dismiss(part: { stop(): Promise<void> }): Promise<void> {
    this.started.splice(this.started.indexOf(part), 1);
    await part.stop();
  }

  /** Takes the time of `work`, which does something so many times, and what it costs the contenders and PostgreSQL. */
  async measure(
    count: number,
    contenders: Participant | readonly Participant[],
    work: () => Promise<unknown>,
  ): Promise<Sample> {
    const all = contenders instanceof Participant ? [contenders] : contenders;
    const before = await this.costs(all);
    const startedAt = performance.now();
    await work();
    const elapsedMs = performance.now() - startedAt;
    const after = await this.costs(all);
    return {
      count,
      elapsedMs,
      cpuMicroseconds: after.own - before.own,
      serverCpuMicroseconds:
        after.server === null || before.server === null ? null : after.server - before.server,
      walBytes: after.wal - before.wal,
    };
  }

  private async costs(contenders: readonly Participant[]) {
    const costs = await Promise.all(contenders.map((one): Promise<ProcessCosts> => one.costs()));
    return {
      own: costs.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0),
      server: await this.server.cpuMicroseconds(),
      wal: await this.server.walBytes(),
    };
  }
}
