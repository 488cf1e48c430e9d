import { takeCell } from '../../platform/rate/cell-rate.rules.js';

/** The requests that the rate allows in this period may be sent as one burst. */
const BURST_MS = 100;
/** The interval between checks while no request may be sent. */
const CHECK_AGAIN_MS = 50;

/** Limits requests per second (SCS_MAX_REQUESTS_PER_SECOND), evenly spaced except for short bursts. */
export class RequestRate {
  private clearAt: number | undefined;

  /** `perSecond` is called for every request. Infinity means no limit. 0 means that no request may be sent now. */
  constructor(private readonly perSecond: () => number) {}

  /** Admits a request and returns 0, or returns how many milliseconds the request must wait. */
  take(now: number): number {
    const perSecond = this.perSecond();
    if (perSecond === Infinity) return 0;
    if (perSecond <= 0) return CHECK_AGAIN_MS;
    const intervalMs = 1_000 / perSecond;
    const periodMs = BURST_MS + intervalMs;
    const { waitMs, clearAt } = takeCell(this.clearAt, now, { amount: periodMs / intervalMs, periodMs });
    this.clearAt = clearAt;
    return waitMs;
  }
}

/** The result of a heartbeat. `replicas` includes this one. `settled`: every other live replica has counted at least as many replicas. */
export interface Beat {
  readonly replicas: number;
  readonly settled: boolean;
}

/** Returns this replica's share of `ceiling`, the requests per second of all replicas. The share falls as soon as another replica joins. */
// The share rises only after every other replica has counted all replicas. Before that, another replica may still use a larger share.
export function planShare(ceiling: number, current: number, { replicas, settled }: Beat): number {
  const fair = ceiling / replicas;
  return settled ? fair : Math.min(fair, current);
}
