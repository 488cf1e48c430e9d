import { firstLimit, lower, raise } from './concurrency-limit.js';
import type { CallClass, CallResult, Priority } from '../outcome.rules.js';
import type { RequestBudget } from './request-budget.js';

/**
 * The classes in order of precedence, each with the number of turns that other classes may take before it gets the next turn. So no class
 * starves. If calls of all classes wait, the classes get 4, 3, 2 and 1 of 10 turns.
 */
const PASSED_AT_MOST: Readonly<Record<CallClass, number>> = {
  'foreground change': Infinity,
  'foreground read': 2,
  'background change': 4,
  'background read': 8,
};
const CLASSES = Object.keys(PASSED_AT_MOST) as readonly CallClass[];
const perClass = <T>(value: () => T) =>
  Object.fromEntries(CLASSES.map((name) => [name, value()])) as Record<CallClass, T>;
const isBackground = (name: CallClass): boolean => name.startsWith('background');

export type Turn = 'granted' | 'timed_out' | 'cancelled';

/** Limits the concurrency and the rate of calls. Sends calls of one class in order of arrival. */
export class CallQueue {
  inFlight = 0;
  backgroundInFlight = 0;
  private state = firstLimit(this.ceiling);
  /** Per queued call, the function that ends its wait. */
  private readonly waiting = perClass(() => new Set<(turn: Turn) => void>());
  /** Per class, the number of turns of other classes since its last turn. */
  private readonly passed = perClass(() => 0);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly ceiling: number,
    private readonly budget: RequestBudget,
    private readonly maxWaitMs: number,
  ) {
    budget.onDraw = () => this.admit();
  }

  get limit(): number {
    return Math.floor(this.state.limit);
  }

  /** Returns how many background calls may be in flight. Leaves foreground calls one place of the ceiling, unless the ceiling is 1. */
  get backgroundLimit(): number {
    return Math.min(this.limit, Math.max(1, this.ceiling - 1));
  }

  queued(priority: Priority): number {
    return classesOf(priority).reduce((sum, name) => sum + this.waiting[name].size, 0);
  }

  /** Resolves when the call may be sent, or when its wait ends without a turn. After a granted turn, the caller must call `end`. */
  turn(name: CallClass, signal?: AbortSignal): Promise<Turn> {
    const waiting = this.waiting[name];
    // Most calls find a place at once. They need neither a timer nor a listener.
    if (this.size === 0 && this.hasPlace(name) && this.budget.take(performance.now(), 1) === 0) {
      this.enter(name);
      return Promise.resolve('granted');
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
      this.admit();
    });
  }

  /** Waits for a turn, runs `work` and ends the turn. If no turn was granted, returns the reason. If `name` is null, needs no turn. */
  async inTurn<T>(
    name: CallClass | null,
    signal: AbortSignal | undefined,
    work: (sentAt: number) => Promise<{ readonly sent: T; readonly result: CallResult }>,
  ): Promise<T | Exclude<Turn, 'granted'>> {
    const turn = name === null ? 'granted' : await this.turn(name, signal);
    if (turn !== 'granted') return turn;
    const sentAt = performance.now();
    let result: CallResult = 'unknown';
    try {
      const done = await work(sentAt);
      result = done.result;
      return done.sent;
    } finally {
      if (name !== null) this.end(name, result, sentAt);
    }
  }

  /** Ends a granted turn. `sentAt`: when the call was sent, by `performance.now()`. */
  end(name: CallClass, result: CallResult, sentAt: number): void {
    if (result === 'succeeded') this.state = raise(this.state, this.inFlight, this.ceiling);
    else if (result !== 'failed' && result !== 'foreign' && result !== 'unknown')
      this.state = lower(this.state, result, sentAt, performance.now());
    this.inFlight--;
    if (isBackground(name)) this.backgroundInFlight--;
    this.admit();
  }

  dismiss(priority: Priority): void {
    for (const name of classesOf(priority)) for (const leave of this.waiting[name]) leave('cancelled');
  }

  private admit(): void {
    for (let next = this.next(); next; next = this.next()) {
      const earlyMs = this.budget.take(performance.now(), this.size);
      if (earlyMs > 0) return this.admitAfter(earlyMs);
      this.enter(next);
      const [leave] = this.waiting[next];
      leave!('granted');
    }
  }

  private get size(): number {
    return CLASSES.reduce((sum, name) => sum + this.waiting[name].size, 0);
  }

  private enter(name: CallClass): void {
    this.inFlight++;
    if (isBackground(name)) this.backgroundInFlight++;
    for (const other of CLASSES) this.passed[other]++;
    this.passed[name] = 0;
  }

  private hasPlace(name: CallClass): boolean {
    // Reserves one place above the limit for foreground calls, so that a user at a screen does not wait for slow reads. Only one foreground
    // call at a time may take it: otherwise successive foreground calls could occupy it, and background calls would get no turn.
    const reserved = this.inFlight === this.backgroundInFlight ? 1 : 0;
    if (!isBackground(name)) return this.inFlight < Math.min(this.ceiling, this.limit + reserved);
    return this.inFlight < this.limit && this.backgroundInFlight < this.backgroundLimit;
  }

  private next(): CallClass | undefined {
    const ready = CLASSES.filter((name) => this.waiting[name].size > 0 && this.hasPlace(name));
    return ready.findLast((name) => this.passed[name] >= PASSED_AT_MOST[name]) ?? ready[0];
  }

  private admitAfter(ms: number): void {
    // Infinity means that tokens are being drawn. The budget calls `admit` afterwards.
    if (ms === Infinity) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.admit();
    }, Math.ceil(ms));
  }
}

const classesOf = (priority: Priority): readonly CallClass[] =>
  CLASSES.filter((name) => name.startsWith(priority));
