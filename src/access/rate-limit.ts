import { takeCell, type CellRate } from '../platform/rate/cell-rate.rules.js';

/** Memory bound: beyond this many subjects within one period, the longest idle one is forgotten. */
const SUBJECTS = 10_000;

/**
 * Limits how often something may happen per subject: bursts of `amount`, and `amount` per `periodMs`. Its state is in this process only,
 * one number per subject. `now` is in milliseconds of a monotonic clock.
 */
export class RateLimit {
  /** Per subject the `clearAt` of takeCell; the subject idle longest comes first. */
  private readonly clearAt = new Map<string, number>();
  private readonly rate: CellRate;

  constructor(amount: number, periodMs: number) {
    this.rate = { amount, periodMs };
  }

  /** Returns 0 and counts if the subject is within its limit. Otherwise counts nothing and returns the milliseconds to wait. */
  take(subject: string, now: number): number {
    const { waitMs, clearAt } = takeCell(this.clearAt.get(subject), now, this.rate);
    if (waitMs === 0) this.remember(subject, clearAt);
    return waitMs;
  }

  /** Undoes one `take` that should not have counted. */
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
