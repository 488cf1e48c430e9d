import type { FakeRemoteRequest } from './fake-responses.js';
import type { FakeRemoteCommand } from './fake-remote.process.js';
import { BenchProcess } from '../process.js';

type Ready = { readonly kind: 'ready'; readonly ports: Readonly<Record<string, number>> };
type Counted = { readonly kind: 'counted'; readonly contender: string };

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

  /** Waits until `reads` more sessions of the contender have been read. */
  async counted(contender: string, reads: number): Promise<void> {
    const command: FakeRemoteCommand = { kind: 'count', contender, reads };
    await this.process.ask<Counted>(
      command,
      (said) => said.kind === 'counted' && said.contender === contender,
    );
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}
