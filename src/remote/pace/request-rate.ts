import { takeCell } from '../../platform/rate/cell-rate.rules.js';

/** The requests that the rate allows in this period may be sent as one burst. */
const BURST_MS = 100;
/** The longest wait until the next check, since the rate may have risen. */
const CHECK_AGAIN_MS = 50;

/** Limits requests per second (SCS_MAX_REQUESTS_PER_SECOND), evenly spaced except for short bursts. */
export class RequestRate {
  /** The number of requests admitted so far. */
  admitted = 0;
  private clearAt: number | undefined;
  private intervalMs = 0;

  /** `perSecond` is called for every request. Infinity means no limit. 0 means that no request may be sent now. */
  constructor(private readonly perSecond: () => number) {}

  /** Admits a request and returns 0, or returns after how many milliseconds to try again. */
  take(now: number): number {
    const perSecond = this.perSecond();
    if (perSecond === Infinity) return 0;
    if (perSecond <= 0) return CHECK_AGAIN_MS;
    const intervalMs = 1_000 / perSecond;
    // Requests that are already sent still count, but at the present rate.
    if (this.clearAt !== undefined)
      this.clearAt = now + Math.max(0, this.clearAt - now) * (intervalMs / this.intervalMs);
    this.intervalMs = intervalMs;
    const periodMs = BURST_MS + intervalMs;
    const { waitMs, clearAt } = takeCell(this.clearAt, now, { amount: periodMs / intervalMs, periodMs });
    this.clearAt = clearAt;
    if (waitMs === 0) this.admitted++;
    return Math.min(waitMs, CHECK_AGAIN_MS);
  }
}
