import type { FakeRemoteRequest } from './fake-responses.js';
import type { FakeRemoteCommand } from './fake-remote.process.js';
import type { Flow } from './flow-gauge.js';
import { BenchProcess } from '../process.js';

type Ready = { readonly kind: 'ready'; readonly ports: Readonly<Record<string, number>> };
type Said = { readonly kind: 'counted' | 'flow'; readonly contender: string; readonly flow?: Flow };

/** The fake remote service: one process, with a port per contender. */
export class FakeRemote {
  private constructor(
    private readonly process: BenchProcess,
    private readonly ports: Readonly<Record<string, number>>,
  ) {}

  static async start(request: FakeRemoteRequest): Promise<FakeRemote> {
    const child = BenchProcess.start(new URL('./fake-remote.process.ts', import.meta.url));
    const { ports } = await child.ask<Ready>(request, ({ kind }) => kind === 'ready');
    return new FakeRemote(child, ports);
  }

  url(contender: string): string {
    return `http://127.0.0.1:${this.ports[contender]}`;
  }

  setLatency(latencyMs: number): void {
    this.process.send({ kind: 'latency', latencyMs } satisfies FakeRemoteCommand);
  }

  /** Refuses requests above this rate with 429. 0 means no limit. */
  setLimit(contender: string, perSecond: number): void {
    this.process.send({ kind: 'limit', contender, perSecond } satisfies FakeRemoteCommand);
  }

  async counted(contender: string, reads: number): Promise<void> {
    await this.ask({ kind: 'count', contender, reads }, 'counted', contender);
  }

  async flow(contender: string): Promise<Flow> {
    return (await this.ask({ kind: 'flow', contender }, 'flow', contender)).flow!;
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  private ask(command: FakeRemoteCommand, kind: Said['kind'], contender: string): Promise<Said> {
    return this.process.ask<Said>(command, (said) => said.kind === kind && said.contender === contender);
  }
}
