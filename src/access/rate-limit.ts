import { takeCell, type CellRate } from '../platform/rate/cell-rate.rules.js';

/** The most subjects in memory. Beyond this number, the subject that was idle for the longest time is dropped. */
const SUBJECTS = 10_000;

export interface Taken {
  /** 0 if the call is allowed. Otherwise the time until a call is allowed; the refused call is not counted. */
  readonly waitMs: number;
  /** The remaining quota, as in draft-ietf-httpapi-ratelimit-headers. `t` is the time until the whole quota is available again. */
  readonly headers: Readonly<Record<'ratelimit' | 'ratelimit-policy', string>>;
}

// Rejected: rate-limiter-flexible, which uses fixed windows, counts refused calls and has no memory bound.
/** Allows each subject `amount` calls per `periodMs`, even all at once. Counts in this process only. `now`: ms of a monotonic clock. */
export class RateLimit {
  /** By subject: when its whole quota is available again. The subject that was idle for the longest time comes first. */
  private readonly clearAt = new Map<string, number>();
  private readonly rate: CellRate;

  constructor(
    private readonly name: string,
    amount: number,
    periodMs: number,
  ) {
    this.rate = { amount, periodMs };
  }

  take(subject: string, now: number): Taken {
    const { waitMs, clearAt } = takeCell(this.clearAt.get(subject), now, this.rate);
    if (waitMs === 0) this.remember(subject, clearAt);
    const { amount, periodMs } = this.rate;
    const usedMs = clearAt - now;
    const left = amount - Math.ceil((usedMs * amount) / periodMs - 0.001);
    const headers = {
      ratelimit: `"${this.name}";r=${Math.max(0, left)};t=${Math.ceil(usedMs / 1_000)}`,
      'ratelimit-policy': `"${this.name}";q=${amount};w=${periodMs / 1_000}`,
    };
    return { waitMs, headers };
  }

  /** Undoes one `take` that should not have counted. */
  giveBack(subject: string): void {
    const clearAt = this.clearAt.get(subject);
    if (clearAt !== undefined) this.clearAt.set(subject, clearAt - this.rate.periodMs / this.rate.amount);
  }

  private remember(subject: string, clearAt: number): void {
    // Deletes first, so that the map stays ordered by use.
    this.clearAt.delete(subject);
    this.clearAt.set(subject, clearAt);
    const [idle] = this.clearAt.keys();
    if (this.clearAt.size > SUBJECTS && idle !== undefined) this.clearAt.delete(idle);
  }
}
