/** A wait that the remote service requested. Times are milliseconds of any monotonic clock. */
export interface RequestedWait {
  readonly from: number;
  readonly until: number;
}

const PERIOD_MS = 300_000;
/** Waits that are shorter than this in total are no trouble: they only regulate the load. */
const NOTABLE_MS = 60_000;

/** Adds a wait, or prolongs the last one if they overlap. Returns the waits of the last 5 minutes. */
export function addWait(
  waits: readonly RequestedWait[],
  { from, until }: RequestedWait,
): readonly RequestedWait[] {
  const recent = waits.filter((wait) => wait.until > from - PERIOD_MS);
  const last = recent.at(-1);
  return last !== undefined && last.until > from
    ? [...recent.slice(0, -1), { from: last.from, until: Math.max(last.until, until) }]
    : [...recent, { from, until }];
}

/** Describes the requested waits in words. Returns null if they last less than a minute in total. */
export function describeTrouble(waits: readonly RequestedWait[]): string | null {
  // Rounds, because the sum of two fractional times is not exact.
  const lengths = waits.map(({ from, until }) => Math.round(until - from));
  if (lengths.reduce((sum, ms) => sum + ms, 0) < NOTABLE_MS) return null;
  const last = `asked to wait for ${Math.ceil(lengths.at(-1)! / 1_000)} s`;
  return waits.length === 1 ? last : `${last}, ${waits.length} times within 5 minutes`;
}
