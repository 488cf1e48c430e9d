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
    return this.track(this.run(write, withinMs));
  }

  /** Runs `step` until it returns true, with a pause after each run. Ends early when the patience ends, but only after a last run. */
  repeatUntil(step: () => Promise<boolean>, pauseMs: number): Promise<void> {
    return this.track(this.runUntil(step, pauseMs));
  }

  /** Ends the patience after `ms`: then each write that pauses runs once more, and a later write runs twice at most. For a shutdown. */
  endPatienceIn(ms: number): void {
    const timer = setTimeout(() => this.closing.abort(), ms);
    timer.unref();
  }

  /** Ends the patience, and waits for all writes. Call it before the database is closed. */
  async close(): Promise<void> {
    this.closing.abort();
    while (this.running.size > 0) {
      await Promise.all(this.running);
      // Lets the caller of a write that has failed store that it has failed.
      await nextTurn();
    }
  }

  private track<T>(work: Promise<T>): Promise<T> {
    const forget = (): void => void this.running.delete(ended);
    const ended = work.then(forget, forget);
    this.running.add(ended);
    return work;
  }

  private async run<T>(write: () => Promise<T>, withinMs: number): Promise<T> {
    const until = performance.now() + withinMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        const isOver = this.closing.signal.aborted || performance.now() > until;
        if (attempt > 1 && isOver) throw error;
        await this.pause(backoffMs(PAUSE, attempt));
      }
    }
  }

  private async runUntil(step: () => Promise<boolean>, pauseMs: number): Promise<void> {
    while (!(await step()) && !this.closing.signal.aborted) await this.pause(pauseMs);
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.closing.signal }).catch(() => {});
  }
}
