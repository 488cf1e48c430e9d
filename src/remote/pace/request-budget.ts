import { RateMeter } from '../../platform/rate/rate-meter.js';

/** A draw takes at most the tokens of this period. They are lost if the replica dies. */
const DRAW_MS = 250;
/** Undrawn tokens lapse after this time: until then, a burst can use them. Drawn tokens lapse this long after the end of their period. */
export const BURST_MS = 100;
const RETRY_MS = 250;
/** How long a replica counts as paced after a request waited for a token: longer than the interval at one request per second. */
const PACED_MS = 2_000;

/** Draws tokens worth `ms` from the budget of all replicas. Returns in how many milliseconds the first is valid. */
export type DrawTokens = (ms: number) => Promise<number>;

/**
 * Limits the requests of all replicas together to SCS_MAX_REQUESTS_PER_SECOND. Each request takes a token. A replica draws as many tokens
 * as requests wait, from one bucket in the database. A draw reserves a period in which no other replica sends a request. The requests are
 * evenly spaced in this period.
 *
 * Rejected: a share of the budget for each replica, by its recent demand. Shares follow the demand only after heartbeats of all replicas,
 * so part of the budget is unused meanwhile, and the share of a dead replica is unused for seconds.
 */
export class RequestBudget {
  private tokens = { count: 0, nextAt: 0, lapseAt: 0 };
  private isDrawing = false;
  private pacedAt = -Infinity;
  private readonly taken = new RateMeter(1_000);
  private readonly intervalMs: number;
  onDraw: () => void = () => {};

  /** `ceiling`: requests per second of all replicas. Infinity: no limit, and nothing is drawn. */
  constructor(
    private readonly ceiling: number,
    private readonly draw: DrawTokens,
  ) {
    this.intervalMs = 1_000 / ceiling;
  }

  /** Takes a token and returns 0. Without one, returns the ms until the next attempt, or Infinity while tokens for `waiting` are drawn. */
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

  /** Whether a request has waited for a token in the last PACED_MS. */
  get isPaced(): boolean {
    return performance.now() - this.pacedAt < PACED_MS;
  }

  /** Returns the requests per second that this replica may expect to send: if it is paced, as many as in the last second. */
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
