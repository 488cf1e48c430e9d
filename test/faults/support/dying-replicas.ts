import { testEnvironment } from '../../setup/test-environment.js';
import { startTestProcess, type TestProcess } from '../../setup/processes/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

const BEGIN_WITHIN_MS = 30_000;

/** Runs replicas as processes, and replaces each killed replica. */
export class DyingReplicas {
  private readonly live: TestProcess[] = [];
  private beginning: Promise<void>[] = [];
  killed = 0;

  private constructor(private readonly spares: TestProcess[]) {}

  /** Loads `count` processes in advance, because loading a process takes longer than the time between two kills. */
  static async load(count: number, environment: Record<string, string>): Promise<DyingReplicas> {
    const spares = await Promise.all(
      Array.from({ length: count }, () =>
        startTestProcess('test/faults/support/processes/spare-replica.process.ts', {
          ...testEnvironment(),
          ...environment,
        }),
      ),
    );
    return new DyingReplicas(spares);
  }

  get urls(): string[] {
    return this.live.map(urlOf).filter((url) => url !== undefined);
  }

  /** Starts a spare replica. Resolves when it serves. */
  async begin(): Promise<void> {
    const replica = this.spares.shift();
    if (replica === undefined) throw new Error('there is no spare replica left');
    replica.kill('SIGUSR2');
    await waitFor('the replica serves', () => urlOf(replica), BEGIN_WITHIN_MS);
    this.live.push(replica);
  }

  async killOne(): Promise<void> {
    const replica = await this.takeOne();
    const { signal } = await replica.stop('SIGKILL');
    if (signal !== 'SIGKILL')
      throw new Error(`a replica had ended with ${signal} before:\n${replica.logs()}`);
    this.killed++;
    this.beginning.push(this.begin());
  }

  /** Stops a replica's process for `forMs` and resumes it, as the migration of a virtual machine does. */
  async freezeOne(forMs: number): Promise<void> {
    const replica = await this.takeOne();
    replica.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, forMs));
    replica.kill('SIGCONT');
    this.live.push(replica);
  }

  async allServe(): Promise<void> {
    await Promise.all(this.beginning);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.beginning);
    await Promise.all([...this.live, ...this.spares].map((replica) => replica.stop('SIGKILL')));
  }

  private takeOne(): Promise<TestProcess> {
    const random = () => Math.floor(Math.random() * this.live.length);
    return waitFor('a replica serves', () => this.live.splice(random(), 1)[0], BEGIN_WITHIN_MS);
  }
}

const urlOf = (replica: TestProcess): string | undefined => /serving (\S+)/.exec(replica.logs())?.[1];
