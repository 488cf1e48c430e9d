export type Turn = 'granted' | 'timed_out' | 'cancelled';

interface Waiter {
  readonly until: number;
  readonly settle: (turn: Turn) => void;
  left: boolean;
}

/**
 * A first-in, first-out queue in which no waiter waits longer than `maxWaitMs`. Since all waits are equally long, one timer, for the first
 * waiter, suffices.
 */
export class WaitingLine {
  length = 0;
  private waiters: Waiter[] = [];
  private first = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly maxWaitMs: number,
    private readonly clock: () => number,
  ) {}

  wait(signal?: AbortSignal): Promise<Turn> {
    return new Promise((resolve) => {
      const onAbort = () => this.leave(waiter, 'cancelled');
      const settle = (turn: Turn) => {
        signal?.removeEventListener('abort', onAbort);
        resolve(turn);
      };
      const waiter: Waiter = { until: this.clock() + this.maxWaitMs, settle, left: false };
      signal?.addEventListener('abort', onAbort);
      this.waiters.push(waiter);
      this.length++;
      this.watchFirst();
    });
  }

  /** Admits the first waiter; returns false if the line is empty. */
  admitFirst(): boolean {
    const waiter = this.peek();
    if (waiter) this.leave(waiter, 'granted');
    return waiter !== undefined;
  }

  dismiss(): void {
    for (let waiter = this.peek(); waiter; waiter = this.peek()) this.leave(waiter, 'cancelled');
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private leave(waiter: Waiter, turn: Turn): void {
    if (waiter.left) return;
    waiter.left = true;
    this.length--;
    waiter.settle(turn);
  }

  /** Returns the first waiter and drops those that left. The array is trimmed only now and then, since shift() costs its length. */
  private peek(): Waiter | undefined {
    while (this.waiters[this.first]?.left) this.first++;
    if (this.first > 1_024 && this.first * 2 > this.waiters.length) {
      this.waiters = this.waiters.slice(this.first);
      this.first = 0;
    }
    return this.waiters[this.first];
  }

  private watchFirst(): void {
    const waiter = this.peek();
    if (this.timer || !waiter) return;
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        for (let late = this.peek(); late && late.until <= this.clock(); late = this.peek())
          this.leave(late, 'timed_out');
        this.watchFirst();
      },
      Math.max(1, Math.ceil(waiter.until - this.clock())),
    );
  }
}
