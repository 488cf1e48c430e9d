import { type ConcurrencyLimit, firstLimit, lower, raise } from './concurrency-limit.js';
import type { Priority } from '../outcome.rules.js';
import type { RateCeiling } from './rate-ceiling.js';
import { WaitingLine, type Turn } from './waiting-line.js';

/** After this many foreground calls in a row a background call gets a turn, so that a busy API does not stop the poller. */
const FOREGROUND_IN_ROW = 8;

export type Ending = 'succeeded' | 'refused' | 'timed_out' | 'other';

/**
 * Decides which call may go now: at most the live limit in flight, at most the ceiling per second. Calls go first come, first served within
 * a priority, and foreground before background. One more place, within the ceiling, is reserved for foreground calls, so that a user at a
 * screen does not wait for 32 slow reads.
 */
export class Limiter {
  inFlight = 0;
  private background = 0;
  private foregroundInRow = 0;
  private state: ConcurrencyLimit;
  private readonly lines: Record<Priority, WaitingLine>;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly ceiling: number,
    private readonly rate: RateCeiling,
    private readonly clock: () => number,
    maxWaitMs: number,
  ) {
    this.state = firstLimit(ceiling);
    this.lines = {
      foreground: new WaitingLine(maxWaitMs, clock),
      background: new WaitingLine(maxWaitMs, clock),
    };
  }

  get limit(): number {
    return Math.floor(this.state.limit);
  }

  /** The live limit, at most one below the ceiling, so that a foreground call finds a place; still 1 if the ceiling is 1. */
  get backgroundLimit(): number {
    return Math.min(this.limit, Math.max(1, this.ceiling - 1));
  }

  queued(priority: Priority): number {
    return this.lines[priority].length;
  }

  /** Resolves when the call may go. A caller that is granted a turn must call `end`. */
  turn(priority: Priority, signal?: AbortSignal): Turn | Promise<Turn> {
    if (this.lines[priority].length === 0 && this.hasPlace(priority)) {
      const early = this.rate.take(this.clock());
      if (early === 0) {
        this.enter(priority);
        return 'granted';
      }
      this.admitAfter(early);
    }
    return this.lines[priority].wait(signal);
  }

  /** Ends a granted turn. `sentAt`: when the call was sent, by the limiter's clock. */
  end(priority: Priority, ending: Ending, sentAt: number): void {
    switch (ending) {
      case 'succeeded':
        this.state = raise(this.state, this.inFlight, this.ceiling);
        break;
      case 'refused':
        this.state = lower(this.state, 'refusal', sentAt, this.clock());
        break;
      case 'timed_out':
        this.state = lower(this.state, 'timeout', sentAt, this.clock());
        break;
      case 'other':
        break;
    }
    this.inFlight--;
    if (priority === 'background') this.background--;
    this.admit();
  }

  /** Cancels all waiting calls of this priority. */
  dismiss(priority: Priority): void {
    this.lines[priority].dismiss();
  }

  private hasPlace(priority: Priority): boolean {
    if (priority === 'foreground') return this.inFlight < Math.min(this.ceiling, this.limit + 1);
    return this.inFlight < this.limit && this.background < this.backgroundLimit;
  }

  private enter(priority: Priority): void {
    this.inFlight++;
    if (priority === 'background') this.background++;
  }

  private admit(): void {
    for (let next = this.next(); next; next = this.next()) {
      const early = this.rate.take(this.clock());
      if (early > 0) return this.admitAfter(early);
      if (!this.lines[next].admitFirst()) continue;
      this.foregroundInRow = next === 'foreground' ? this.foregroundInRow + 1 : 0;
      this.enter(next);
    }
  }

  private next(): Priority | undefined {
    const foreground = this.lines.foreground.length > 0 && this.hasPlace('foreground');
    const background = this.lines.background.length > 0 && this.hasPlace('background');
    if (foreground && !(background && this.foregroundInRow >= FOREGROUND_IN_ROW)) return 'foreground';
    return background ? 'background' : undefined;
  }

  private admitAfter(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.admit();
    }, Math.ceil(ms));
  }
}
