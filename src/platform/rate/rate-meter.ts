/** Counts events, and returns how many there were per second in the last period. A period ends at the first read after `periodMs`. */
export class RateMeter {
  private count = 0;
  private since = performance.now();
  private last = 0;

  constructor(private readonly periodMs: number) {}

  add(count = 1): void {
    this.count += count;
  }

  get perSecond(): number {
    const now = performance.now();
    const elapsedMs = now - this.since;
    if (elapsedMs >= this.periodMs) {
      this.last = (this.count * 1_000) / elapsedMs;
      [this.count, this.since] = [0, now];
    }
    return this.last;
  }
}
