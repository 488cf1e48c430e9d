import { RateMeter } from '../../platform/rate/rate-meter.js';

/** How many tokens are drawn at once: at most those of this time. A replica that dies loses no more. */
const DRAW_MS = 250;
/** Tokens that were not drawn are kept for this time, so that they can be used as one burst. Drawn tokens lapse this long after their time. */
export const BURST_MS = 100;
/** The pause after a draw that failed. */
const RETRY_MS = 250;
/** Longer than the time between two calls at a rate of one per second. */
const PACED_MS = 2_000;

/** Draws tokens worth `ms` from the budget of all replicas. Returns in how many milliseconds the first is valid. */
export type DrawTokens = (ms: number) => Promise<number>;

/**
 * This replica's tokens of SCS_MAX_REQUESTS_PER_SECOND, one per request. All replicas draw from one bucket in the database, as many tokens as
 * requests wait. A draw is a period of time in which no other replica sends a request. Requests are evenly spaced in it.
 *
 * Rejected: a share for each replica, by what it wanted lately. A share follows the demand only after heartbeats of all replicas, so part of
 * the budget is unused meanwhile, and the share of a dead replica is unused for seconds.
 */
export class RequestBudget {
  private tokens = { count: 0, nextAt: 0, lapseAt: 0 };
  private isDrawing = false;
  private pacedAt = -Infinity;
  private readonly taken = new RateMeter(1_000);
  private readonly intervalMs: number;
  /** Called after each draw. */
  onDraw: () => void = () => {};

  /** `ceiling`: requests per second of all replicas. Infinity: no limit, and nothing is drawn. */
  constructor(
    private readonly ceiling: number,
    private readonly draw: DrawTokens,
  ) {
    this.intervalMs = 1_000 / ceiling;
  }

  /** Takes a token and returns 0, or returns after how many milliseconds to try again. Infinity: after the draw, for the `waiting` requests. */
  take(now: number, waiting: number): number {
    if (this.ceiling === Infinity) return 0;
    const { tokens } = this;
    if (tokens.count === 0 || now > tokens.lapseAt) {
      if (!this.isDrawing) void this.refill(waiting);
      return Infinity;
    }
    if (now < tokens.nextAt) {
      this.pacedAt = now;
      return tokens.nextAt - now;
    }
    tokens.count--;
    tokens.nextAt += this.intervalMs;
    this.taken.add();
    return 0;
  }

  /** Whether requests have waited for tokens in the last seconds. */
  get isPaced(): boolean {
    return performance.now() - this.pacedAt < PACED_MS;
  }

  /** Returns the requests per second that this replica may expect to send: while they wait for tokens, those of the last second. */
  get perSecond(): number {
    const { perSecond } = this.taken;
    return this.isPaced ? perSecond : this.ceiling;
  }

  private async refill(waiting: number): Promise<void> {
    this.isDrawing = true;
    const count = Math.max(1, Math.min(waiting, Math.floor(DRAW_MS / this.intervalMs)));
    const lastsMs = count * this.intervalMs;
    try {
      const inMs = await this.draw(lastsMs);
      const nextAt = performance.now() + inMs;
      this.tokens = { count, nextAt, lapseAt: nextAt + lastsMs + BURST_MS };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    this.isDrawing = false;
    this.onDraw();
  }
}
