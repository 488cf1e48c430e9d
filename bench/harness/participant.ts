import type { ContenderCommand, ContenderRequest, ProcessCosts, Reply } from './contender.js';
import { BenchProcess } from './process.js';

/** Controls a contender, which calls `takePart` in its own process. */
export class Participant {
  private constructor(
    private readonly child: BenchProcess,
    readonly url: string,
    readonly databaseUrl: string,
  ) {}

  static async start(script: URL, request: ContenderRequest, flags: readonly string[] = []) {
    const child = BenchProcess.start(script, flags);
    const ready = await child.ask<Reply>(request, ({ kind }) => kind === 'ready');
    return new Participant(child, ready.kind === 'ready' ? (ready.url ?? '') : '', request.databaseUrl);
  }

  async run<Result = void>(count: number, options?: unknown): Promise<Result> {
    const command: ContenderCommand = { kind: 'run', count, options };
    const done = await this.child.ask<Reply>(command, ({ kind }) => kind === 'done');
    return (done as Extract<Reply, { kind: 'done' }>).result as Result;
  }

  async costs(): Promise<ProcessCosts> {
    const command: ContenderCommand = { kind: 'costs' };
    return (await this.child.ask<Reply>(command, ({ kind }) => kind === 'costs')) as ProcessCosts & Reply;
  }

  stop(): Promise<void> {
    return this.child.stop();
  }
}
