import type { ContenderCommand, ContenderRequest, ProcessCosts, Reply } from './contender.js';
import { BenchProcess } from './process.js';
import type { ProfilePart } from './profile.js';

/** The parent's side of `takePart`. */
export class Participant {
  private constructor(
    private readonly child: BenchProcess,
    /** Where it serves HTTP; empty where it does not. */
    readonly url: string,
    readonly databaseUrl: string,
  ) {}

  static async start(
    script: URL,
    request: ContenderRequest,
    flags: readonly string[] = [],
  ): Promise<Participant> {
    const child = BenchProcess.start(script, flags);
    const ready = await child.ask<Reply>(request, ({ kind }) => kind === 'ready');
    return new Participant(child, ready.kind === 'ready' ? (ready.url ?? '') : '', request.databaseUrl);
  }

  /** Lets it do its work so many times, and answers what it says of it. */
  async run<Result = void>(count: number, options?: unknown): Promise<Result> {
    const command: ContenderCommand = { kind: 'run', count, options };
    const done = await this.child.ask<Reply>(command, ({ kind }) => kind === 'done');
    return (done as Extract<Reply, { kind: 'done' }>).result as Result;
  }

  async costs(): Promise<ProcessCosts> {
    const command: ContenderCommand = { kind: 'costs' };
    return (await this.child.ask<Reply>(command, ({ kind }) => kind === 'costs')) as ProcessCosts & Reply;
  }

  /** Where its own CPU goes during `work`, which is slower for it: nothing to take a rate from. */
  async profile(work: () => Promise<unknown>): Promise<readonly ProfilePart[]> {
    const command: ContenderCommand = { kind: 'profile' };
    const asked = () => this.child.ask<Reply>(command, ({ kind }) => kind === 'profile');
    await asked();
    await work();
    return ((await asked()) as Extract<Reply, { kind: 'profile' }>).parts;
  }

  stop(): Promise<void> {
    return this.child.stop();
  }
}
