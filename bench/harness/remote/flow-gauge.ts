export interface Flow {
  readonly requests: number;
  readonly refused: number;
  readonly peakPerSecond: number;
}

const SLICE_MS = 50;
const SLICES_PER_SECOND = 1_000 / SLICE_MS;
/** The size of the token bucket: a burst may use the requests of this many seconds. */
const BURST_SECONDS = 0.2;

/** Counts requests, measures their peak rate, and enforces a rate limit. */
export class FlowGauge {
  private perSecond = 0;
  private tokens = 0;
  private filledAt = 0;
  private requests = 0;
  private refused = 0;
  private peak = 0;
  private slice = 0;
  private readonly slices = new Array<number>(SLICES_PER_SECOND).fill(0);

  limit(perSecond: number): void {
    this.perSecond = perSecond;
    this.tokens = perSecond * BURST_SECONDS;
    this.filledAt = performance.now();
  }

  /** Counts a request. Returns false if the request exceeds the limit. */
  take(now: number): boolean {
    this.requests++;
    this.count(Math.floor(now / SLICE_MS));
    if (this.perSecond === 0) return true;
    const grown = this.tokens + ((now - this.filledAt) / 1_000) * this.perSecond;
    this.tokens = Math.min(this.perSecond * BURST_SECONDS, grown);
    this.filledAt = now;
    if (this.tokens < 1) {
      this.refused++;
      return false;
    }
    this.tokens--;
    return true;
  }

  read(): Flow {
    const flow = { requests: this.requests, refused: this.refused, peakPerSecond: this.peak };
    this.requests = 0;
    this.refused = 0;
    this.peak = 0;
    return flow;
  }

  private count(slice: number): void {
    if (slice - this.slice >= SLICES_PER_SECOND) this.slices.fill(0);
    else for (let gone = this.slice + 1; gone <= slice; gone++) this.slices[gone % SLICES_PER_SECOND] = 0;
    this.slice = slice;
    this.slices[slice % SLICES_PER_SECOND]!++;
    this.peak = Math.max(
      this.peak,
      this.slices.reduce((sum, count) => sum + count, 0),
    );
  }
}
