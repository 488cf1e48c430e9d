import type { FakeRemoteCommand, FakeRemoteRequest } from './fake-remote.process.js';
import { BenchProcess } from './process.js';

type Ready = { readonly kind: 'ready'; readonly ports: Readonly<Record<string, number>> };
type Counted = { readonly kind: 'counted'; readonly contender: string };

/** The remote service of all contenders: one process, a port for each of them. */
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

  /** Resolves when this contender has read so many sessions from now on. */
  async counted(contender: string, reads: number): Promise<void> {
    await this.process.ask<Counted>(
      { kind: 'count', contender, reads } satisfies FakeRemoteCommand,
      (message) => message.kind === 'counted' && message.contender === contender,
    );
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}
