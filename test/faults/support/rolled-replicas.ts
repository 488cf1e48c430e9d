import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { TestClient } from '../../setup/client.js';
import { ADMIN_KEY } from '../../setup/test-environment.js';
import type { TestProcess } from '../../setup/test-process.js';
import { waitFor } from '../../setup/wait-for.js';

/** How long a call is repeated. An orchestrator gives a stopping replica 10 s. */
const RETRY_FOR_MS = 10_000;
const RETRY_PAUSE_MS = 100;

/** Replicas of any release, and the load balancer in front of them, which sends refused calls and 503s to the next replica. */
export class RolledReplicas {
  private readonly started: TestProcess[] = [];
  private readonly live: TestProcess[] = [];
  private turn = 0;
  retried = 0;
  /** Calls that no retry made succeed, and replicas that did not exit with 0. */
  readonly failures: string[] = [];

  get urls(): string[] {
    return this.live.map(({ url }) => url);
  }

  /** Sends calls to a started replica once it is ready. */
  async add(replica: TestProcess): Promise<void> {
    this.started.push(replica);
    await waitFor('the replica is ready', async () => (await fetch(`${replica.url}/health/ready`)).ok);
    this.live.push(replica);
  }

  /** Stops the oldest replica. It gets calls until it has exited, because a load balancer notices a stop late. */
  async stopOldest(): Promise<void> {
    const replica = this.live[0]!;
    const { code, signal } = await replica.stop();
    this.live.shift();
    if (code !== 0) this.failures.push(`a replica ended with ${signal ?? code}:\n${replica.logs()}`);
  }

  /** Returns the body of a successful response, or undefined after noting the failure. */
  async call<T>(method: string, path: string, body?: object): Promise<T | undefined> {
    const until = Date.now() + RETRY_FOR_MS;
    for (;;) {
      const { url } = this.live[this.turn++ % this.live.length]!;
      const answer = await new TestClient(url, ADMIN_KEY)
        .call<T>(method, path, body)
        .catch((error: Error) => ({ status: 0, text: inspect(error.cause), body: undefined }));
      if (answer.status >= 200 && answer.status < 300) return answer.body;
      if (![0, 503].includes(answer.status) || Date.now() > until) {
        this.failures.push(`${method} ${path}: ${answer.status} ${answer.text}`);
        return undefined;
      }
      this.retried++;
      await sleep(RETRY_PAUSE_MS);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.started.map((replica) => replica.stop('SIGKILL')));
  }
}
