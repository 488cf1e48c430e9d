/** A burst may take this much of a second's calls at once; more would be felt as a burst by the service too. */
const BURST_SECONDS = 0.1;

/** Requests per second, evenly spaced but for short bursts (the generic cell rate algorithm). 0 means no ceiling. */
export class RateCeiling {
  private dueAt = -Infinity;

  /** `perSecond` is asked each time: this process' share of what the whole deployment may send. */
  constructor(private readonly perSecond: () => number) {}

  /** Takes a request's turn and answers 0, or answers how many milliseconds too early it is. */
  take(now: number): number {
    const perSecond = this.perSecond();
    if (perSecond <= 0) return 0;
    const burstMs = BURST_SECONDS * 1_000;
    const dueAt = Math.max(this.dueAt, now - burstMs);
    if (dueAt > now) return dueAt - now;
    this.dueAt = dueAt + 1_000 / perSecond;
    return 0;
  }
}
