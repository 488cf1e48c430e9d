/** A burst may take this much of a second's calls at once; more would be felt as a burst by the service too. */
const BURST_SECONDS = 0.1;
/** While nothing may be sent at all, how long until it is worth asking again. */
const ASK_AGAIN_MS = 50;

/** Requests per second, evenly spaced but for short bursts (the generic cell rate algorithm). */
export class RateCeiling {
  private dueAt = -Infinity;

  /** `perSecond` is asked each time: Infinity where there is no ceiling, 0 while nothing may be sent. */
  constructor(private readonly perSecond: () => number) {}

  /** Takes a request's turn and answers 0, or answers how many milliseconds too early it is. */
  take(now: number): number {
    const perSecond = this.perSecond();
    if (perSecond === Infinity) return 0;
    if (perSecond <= 0) return ASK_AGAIN_MS;
    const burstMs = BURST_SECONDS * 1_000;
    const dueAt = Math.max(this.dueAt, now - burstMs);
    if (dueAt > now) return dueAt - now;
    this.dueAt = dueAt + 1_000 / perSecond;
    return 0;
  }
}
