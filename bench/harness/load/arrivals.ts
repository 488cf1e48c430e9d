/** A subject and its arrival time in milliseconds, by a clock that all processes on this machine share. */
export type Arrival = readonly [subject: string, atMs: number];

export const sharedClockMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Collects arrivals. `take` waits for `count` of them, then returns and removes all. */
export class Arrivals {
  private arrived: Arrival[] = [];
  private wanted = Infinity;
  private resolve: (arrivals: Arrival[]) => void = () => {};

  add(subject: string): void {
    this.arrived.push([subject, sharedClockMs()]);
    this.settle();
  }

  take(count: number): Promise<Arrival[]> {
    return new Promise((resolve) => {
      this.wanted = count;
      this.resolve = resolve;
      this.settle();
    });
  }

  private settle(): void {
    if (this.arrived.length < this.wanted) return;
    this.wanted = Infinity;
    this.resolve(this.arrived.splice(0));
  }
}
