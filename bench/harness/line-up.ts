import type { ProcessCosts } from './contender.js';
import { type BenchDatabase, BenchServer } from './database.js';
import { FakeRemote } from './remote/fake-remote.js';
import { Participant } from './participant.js';
import type { Sample } from './rounds.js';

export interface ContenderOptions {
  /** The name of the port at the fake remote service. Several contenders may share a port. */
  readonly name: string;
  readonly script: URL;
  readonly database: BenchDatabase;
  readonly concurrency: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly countsRoundTrips?: boolean;
}

export interface LineUpOptions {
  /** The number of sessions at the fake remote service and, by default, in each database. */
  readonly sessions: number;
  readonly remotes: readonly string[];
  /** Whether a fiftieth of the sessions changes whenever all sessions are read. Default: true. */
  readonly changes?: boolean;
}

/** Starts and stops the processes of a comparison: PostgreSQL, the fake remote service and the contenders. */
export class LineUp {
  private readonly started: { stop(): Promise<void> }[] = [];

  private constructor(
    readonly server: BenchServer,
    readonly remote: FakeRemote,
    private readonly sessions: number,
    private readonly startedAtMs: number,
  ) {}

  /** Runs `work`, then stops all processes, even if `work` fails. */
  static async with(
    { sessions, remotes, changes = true }: LineUpOptions,
    work: (lineUp: LineUp) => Promise<void>,
  ): Promise<void> {
    // One minute ago, in whole seconds like the timestamps of the remote interface.
    const startedAtMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
    const server = await BenchServer.start();
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
    const { name, script, database, concurrency, environment, flags, countsRoundTrips } = options;
    const remoteUrl = this.remote.url(name);
    const request = { remoteUrl, databaseUrl: database.url, concurrency, environment, countsRoundTrips };
    const participant = await Participant.start(script, request, flags);
    this.started.push(participant);
    return participant;
  }

  /** Stops one contender before the others. */
  async dismiss(part: { stop(): Promise<void> }): Promise<void> {
    this.started.splice(this.started.indexOf(part), 1);
    await part.stop();
  }

  /** Measures the duration of `work`, and the CPU time and WAL it costs. `count`: how many operations `work` performs. */
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
      roundTrips: after.roundTrips - before.roundTrips,
      commits: after.commits - before.commits,
    };
  }

  private async costs(contenders: readonly Participant[]) {
    const costs = await Promise.all(contenders.map((one): Promise<ProcessCosts> => one.costs()));
    return {
      own: costs.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0),
      roundTrips: costs.reduce((sum, { roundTrips }) => sum + roundTrips, 0),
      server: await this.server.cpuMicroseconds(),
      wal: await this.server.walBytes(),
      commits: await this.server.commits(),
    };
  }
}
