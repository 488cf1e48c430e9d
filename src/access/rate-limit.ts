import { takeCell, type CellRate } from '../platform/rate/cell-rate.rules.js';

/** More subjects than this within one period are forgotten from the one longest idle: what is kept has a bound, whoever asks. */
const SUBJECTS = 10_000;

/**
 * How often something may happen for each of many subjects: `amount` times at once, and as often again in every `periodMs`. Kept in
 * this process alone, as one number per subject. `now` counts milliseconds on a clock that never goes back.
 */
export class RateLimit {
  /** When all that a subject did will have been forgotten, the subject longest idle first. */
  private readonly clearAt = new Map<string, number>();
  private readonly rate: CellRate;

  constructor(amount: number, periodMs: number) {
    this.rate = { amount, periodMs };
  }

  /** 0 when this one is within the limit, and counted. Otherwise nothing is counted, and it is the milliseconds to wait. */
  take(subject: string, now: number): number {
    const { waitMs, clearAt } = takeCell(this.clearAt.get(subject), now, this.rate);
    if (waitMs === 0) this.remember(subject, clearAt);
    return waitMs;
  }

  /** Takes one back that should not have been counted. */
  giveBack(subject: string): void {
    const clearAt = this.clearAt.get(subject);
    if (clearAt !== undefined) this.clearAt.set(subject, clearAt - this.rate.periodMs / this.rate.amount);
  }

  private remember(subject: string, clearAt: number): void {
    // Deleted first, so that the map stays ordered by use.
    this.clearAt.delete(subject);
    this.clearAt.set(subject, clearAt);
    const [idle] = this.clearAt.keys();
    if (this.clearAt.size > SUBJECTS && idle !== undefined) this.clearAt.delete(idle);
  }
}
