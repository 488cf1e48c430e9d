/** More subjects than this within one period are forgotten from the one longest idle: what is kept has a bound, whoever asks. */
const SUBJECTS = 10_000;

/**
 * How often something may happen for each of many subjects: `amount` times at once, and as often again in every `periodMs`. Kept in
 * this process alone, as one number per subject (the generic cell rate algorithm). `now` counts milliseconds on a clock that never
 * goes back.
 */
export class RateLimit {
  /** When all that a subject did will have been forgotten, the subject longest idle first. */
  private readonly clearAt = new Map<string, number>();
  private readonly costMs: number;

  constructor(
    amount: number,
    private readonly periodMs: number,
  ) {
    this.costMs = periodMs / amount;
  }

  /** 0 when this one is within the limit, and counted. Otherwise nothing is counted, and it is the milliseconds to wait. */
  take(subject: string, now: number): number {
    const clearAt = Math.max(this.clearAt.get(subject) ?? now, now) + this.costMs;
    const waitMs = clearAt - now - this.periodMs;
    // Nobody waits for a part of a millisecond, which is also what rounding may come to.
    if (waitMs >= 1) return waitMs;
    this.remember(subject, clearAt);
    return 0;
  }

  /** Takes one back that should not have been counted. */
  giveBack(subject: string): void {
    const clearAt = this.clearAt.get(subject);
    if (clearAt !== undefined) this.clearAt.set(subject, clearAt - this.costMs);
  }

  private remember(subject: string, clearAt: number): void {
    // Deleted first, so that the map stays ordered by use.
    this.clearAt.delete(subject);
    this.clearAt.set(subject, clearAt);
    const [idle] = this.clearAt.keys();
    if (this.clearAt.size > SUBJECTS && idle !== undefined) this.clearAt.delete(idle);
  }
}
