/** A burst may use this share of a second's calls at once; a larger one would be a burst for the service too. */
const BURST_SECONDS = 0.1;
/** While no request may be sent, the wait before the next check. */
const ASK_AGAIN_MS = 50;

/** Limits requests per second, evenly spaced except for short bursts (the generic cell rate algorithm). */
export class RateCeiling {
  private dueAt = -Infinity;

  /** `perSecond` is read at each call: Infinity for no ceiling, 0 while no request may be sent. */
  constructor(private readonly perSecond: () => number) {}

  /** Takes a turn and returns 0, or returns how many milliseconds too early the request is. */
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
