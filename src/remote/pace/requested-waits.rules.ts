/** A wait that the remote service requested. Times are milliseconds of any monotonic clock. */
export interface RequestedWait {
  readonly from: number;
  readonly until: number;
  /** The longest of the waits that were prolonged by each other. Default: this is a single one. */
  readonly longestMs?: number;
}

const PERIOD_MS = 300_000;
/** Waits that are shorter than this in total are no trouble: they only regulate the load. */
const NOTABLE_MS = 60_000;

const longestIn = ({ from, until, longestMs = until - from }: RequestedWait): number => longestMs;

/** Adds a wait, or prolongs the last one if they overlap. Returns the waits of the last 5 minutes. */
export function addWait(waits: readonly RequestedWait[], { from, until }: RequestedWait): RequestedWait[] {
  const recent = waits.filter((wait) => wait.until > from - PERIOD_MS);
  const last = recent.at(-1);
  if (last === undefined || last.until <= from) return [...recent, { from, until }];
  const longestMs = Math.max(longestIn(last), until - from);
  return [...recent.slice(0, -1), { from: last.from, until: Math.max(last.until, until), longestMs }];
}

/** Describes the requested waits in words. Returns null if they last less than a minute in total. */
export function describeTrouble(waits: readonly RequestedWait[]): string | null {
  // Rounds, because the sum of two fractional times is not exact.
  const lengths = waits.map(({ from, until }) => Math.round(until - from));
  if (lengths.reduce((sum, ms) => sum + ms, 0) < NOTABLE_MS) return null;
  const last = `asked to wait for ${Math.ceil(Math.round(longestIn(waits.at(-1)!)) / 1_000)} s`;
  return waits.length === 1 ? last : `${last}, ${waits.length} times within 5 minutes`;
}
