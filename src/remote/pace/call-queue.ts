import { firstLimit, lower, raise } from './concurrency-limit.js';
import type { Priority } from '../outcome.rules.js';
import type { RequestRate } from './request-rate.js';

/** After this many consecutive foreground calls, a background call gets a turn, so that a busy API does not stop the poller. */
const FOREGROUND_IN_ROW = 8;

export type Turn = 'granted' | 'timed_out' | 'cancelled';

export type CallEnding = 'succeeded' | 'refusal' | 'timeout' | 'other';

/** Limits the concurrency and the rate of calls. Foreground calls go first; calls of one priority go in order of arrival. */
export class CallQueue {
  inFlight = 0;
  private background = 0;
  private foregroundInRow = 0;
  private state = firstLimit(this.ceiling);
  /** Per queued call, the function that ends its wait. */
  private readonly waiting = {
    foreground: new Set<(turn: Turn) => void>(),
    background: new Set<(turn: Turn) => void>(),
  };
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly ceiling: number,
    private readonly rate: RequestRate,
    private readonly maxWaitMs: number,
  ) {}

  get limit(): number {
    return Math.floor(this.state.limit);
  }

  /** Returns how many background calls may be in flight. Leaves one place below the ceiling to foreground calls, unless the ceiling is 1. */
  get backgroundLimit(): number {
    return Math.min(this.limit, Math.max(1, this.ceiling - 1));
  }

  /** Whether calls wait for the request rate now. */
  get isPaced(): boolean {
    return this.timer !== undefined;
  }

  queued(priority: Priority): number {
    return this.waiting[priority].size;
  }

  /** Resolves when the call may go, or when its wait ends without a turn. After a granted turn, the caller must call `end`. */
  async turn(priority: Priority, signal?: AbortSignal): Promise<Turn> {
    const waiting = this.waiting[priority];
    // Most calls find a place at once and need no timer.
    if (waiting.size === 0 && this.hasPlace(priority)) {
      const earlyMs = this.rate.take(performance.now());
      if (earlyMs === 0) return this.enter(priority);
      this.admitAfter(earlyMs);
    }
    return new Promise((resolve) => {
      const leave = (turn: Turn) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        waiting.delete(leave);
        resolve(turn);
      };
      const cancel = () => leave('cancelled');
      const timer = setTimeout(() => leave('timed_out'), this.maxWaitMs);
      signal?.addEventListener('abort', cancel);
      waiting.add(leave);
    });
  }

  /** Ends a granted turn. `sentAt`: when the call was sent, by `performance.now()`. */
  end(priority: Priority, ending: CallEnding, sentAt: number): void {
    if (ending === 'succeeded') this.state = raise(this.state, this.inFlight, this.ceiling);
    else if (ending !== 'other') this.state = lower(this.state, ending, sentAt, performance.now());
    this.inFlight--;
    if (priority === 'background') this.background--;
    this.admit();
  }

  dismiss(priority: Priority): void {
    for (const leave of this.waiting[priority]) leave('cancelled');
  }

  private admit(): void {
    for (let next = this.next(); next; next = this.next()) {
      const earlyMs = this.rate.take(performance.now());
      if (earlyMs > 0) return this.admitAfter(earlyMs);
      this.foregroundInRow = next === 'foreground' ? this.foregroundInRow + 1 : 0;
      const [first] = this.waiting[next];
      first!(this.enter(next));
    }
  }

  private enter(priority: Priority): 'granted' {
    this.inFlight++;
    if (priority === 'background') this.background++;
    return 'granted';
  }

  private hasPlace(priority: Priority): boolean {
    // One place is reserved for foreground calls, so that a user at a screen does not wait for slow reads.
    if (priority === 'foreground') return this.inFlight < Math.min(this.ceiling, this.limit + 1);
    return this.inFlight < this.limit && this.background < this.backgroundLimit;
  }

  private next(): Priority | undefined {
    const foreground = this.queued('foreground') > 0 && this.hasPlace('foreground');
    const background = this.queued('background') > 0 && this.hasPlace('background');
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
