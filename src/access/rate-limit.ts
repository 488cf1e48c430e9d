import { takeCell, type CellRate } from '../platform/rate/cell-rate.rules.js';

/** The most subjects in memory. If there are more, the subject whose last allowed call is the oldest is dropped. */
const MAX_SUBJECTS = 10_000;

// Rejected alternative: rate-limiter-flexible, which uses fixed windows, counts refused calls and does not limit its memory.
/** Allows each subject `amount` calls per `periodMs`, even all at once. Counts in this process only. `now`: ms of a monotonic clock. */
export class RateLimit {
  /** When the whole quota of each subject is available again. Ordered by the last allowed call. */
  private readonly clearAt = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly rate: CellRate,
  ) {}

  /**
   * Counts a call if it is allowed. `waitMs`: the time until the next call is allowed. `headers`: the remaining quota, as in
   * draft-ietf-httpapi-ratelimit-headers; `t` is the time until the whole quota is available again.
   */
  take(subject: string, now: number) {
    const { waitMs, clearAt } = takeCell(this.clearAt.get(subject), now, this.rate);
    if (waitMs === 0) this.remember(subject, clearAt);
    const { amount, periodMs } = this.rate;
    const usedMs = clearAt - now;
    // Subtracts 0.001, so that a rounding error does not cost a call.
    const left = amount - Math.ceil((usedMs * amount) / periodMs - 0.001);
    const headers = {
      ratelimit: `"${this.name}";r=${Math.max(0, left)};t=${Math.ceil(usedMs / 1_000)}`,
      'ratelimit-policy': `"${this.name}";q=${amount};w=${periodMs / 1_000}`,
    };
    return { waitMs, headers };
  }

  /** Undoes one `take`, for a call that should not count. */
  giveBack(subject: string): void {
    const clearAt = this.clearAt.get(subject);
    if (clearAt !== undefined) this.clearAt.set(subject, clearAt - this.rate.periodMs / this.rate.amount);
  }

  private remember(subject: string, clearAt: number): void {
    // Deletes the entry first, so that the map stays ordered by the last allowed call.
    this.clearAt.delete(subject);
    this.clearAt.set(subject, clearAt);
    const [oldest] = this.clearAt.keys();
    if (this.clearAt.size > MAX_SUBJECTS && oldest !== undefined) this.clearAt.delete(oldest);
  }
}
