import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../async/backoff.rules.js';

const PAUSE = { firstMs: 100, mostMs: 1_000 };

/** Writes outcomes that only this process knows, such as the response to a remote call, until the database has accepted them. */
// Repeats after every error. A list of SQLSTATEs cannot say which errors pass: a failover, a full disk, a migration of another release and
// a faulty extension each have their own. A permanent error ends with the patience.
export class OutcomeWrites {
  private readonly running = new Set<Promise<unknown>>();
  private readonly closing = new AbortController();

  constructor() {
    // Each write that pauses listens, and any number may pause.
    setMaxListeners(0, this.closing.signal);
  }

  /**
   * Runs `write`, and repeats it after an error. Rethrows the error after `withinMs`, but not before the second attempt. `write` must
   * recognise its own effect by a lease or an id, since it may be committed in spite of the error.
   */
  repeat<T>(write: () => Promise<T>, withinMs: number): Promise<T> {
    const written = this.run(write, withinMs);
    const forget = (): void => void this.running.delete(ended);
    const ended = written.then(forget, forget);
    this.running.add(ended);
    return written;
  }

  /** Makes each running write try once more, without a further pause. Call it before the database is closed. */
  async close(): Promise<void> {
    this.closing.abort();
    while (this.running.size > 0) {
      await Promise.all(this.running);
      // Lets the caller of a write that has failed store that it has failed.
      await nextTurn();
    }
  }

  private async run<T>(write: () => Promise<T>, withinMs: number): Promise<T> {
    const { signal } = this.closing;
    const until = performance.now() + withinMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        const isOver = attempt > 1 && performance.now() > until;
        if (isOver || signal.aborted) throw error;
        await sleep(backoffMs(PAUSE, attempt), undefined, { signal }).catch(() => {});
      }
    }
  }
}
