/** The numbers of calls of one operation. `durations`: the number of successful calls of each duration class. */
export interface CallCounts {
  readonly failed: number;
  readonly durations: Readonly<Record<string, number>>;
}

const RECENT_MS = 300_000;
/** Calls are counted in slices of this length and forgotten slice by slice, so that no time per call is stored. */
const SLICE_MS = 15_000;
/** The ratio of the bounds of a duration class. Durations in a class differ by at most 10 %, so a percentile is off by at most 5 %. */
const GROWTH = 1.1;

/** Counts the calls of one operation in the last 5 minutes. Times by performance.now(). */
export class RecentCalls {
  private slices: { readonly from: number; failed: number; readonly durations: Record<string, number> }[] =
    [];

  /** Counts a call. `seconds`: the duration of a successful call; null if the call failed. */
  add(seconds: number | null, now: number): void {
    let slice = this.slices.at(-1);
    if (slice === undefined || now - slice.from >= SLICE_MS) {
      slice = { from: now, failed: 0, durations: {} };
      this.slices = [...this.recent(now), slice];
    }
    if (seconds === null) slice.failed++;
    else {
      const durationClass = Math.ceil(Math.log(seconds) / Math.log(GROWTH));
      slice.durations[durationClass] = (slice.durations[durationClass] ?? 0) + 1;
    }
  }

  count(now: number): CallCounts {
    return sumOf(this.recent(now));
  }

  private recent(now: number) {
    return this.slices.filter(({ from }) => now - from < RECENT_MS);
  }
}

/** Returns how many calls succeeded and failed, and percentiles of the durations of successful calls, null if no call succeeded. */
export function summarise(counts: readonly CallCounts[]) {
  const { failed, durations } = sumOf(counts);
  const classes = Object.entries(durations)
    .map(([durationClass, calls]) => ({ durationClass: Number(durationClass), calls }))
    .sort((a, b) => a.durationClass - b.durationClass);
  const succeeded = classes.reduce((sum, { calls }) => sum + calls, 0);
  const percentile = (share: number): number | null => {
    let counted = 0;
    const found = classes.find(({ calls }) => (counted += calls) >= share * succeeded);
    // Returns the value that has the same relative difference to both bounds of the class.
    return found === undefined ? null : round((2 * GROWTH ** found.durationClass) / (1 + GROWTH));
  };
  return { succeeded, failed, p50Seconds: percentile(0.5), p95Seconds: percentile(0.95) };
}

function sumOf(counts: readonly CallCounts[]): CallCounts {
  const durations: Record<string, number> = {};
  for (const each of counts)
    for (const [durationClass, calls] of Object.entries(each.durations))
      durations[durationClass] = (durations[durationClass] ?? 0) + calls;
  return { failed: counts.reduce((sum, { failed }) => sum + failed, 0), durations };
}

const round = (seconds: number): number => Math.round(seconds * 10_000) / 10_000;
