/** How long a successful call took. Times by performance.now(). */
export interface CallDuration {
  readonly endedAt: number;
  readonly seconds: number;
}

/** A response that takes longer is slow: a person may be waiting for it. */
export const SLOW_SECONDS = 2;
/** How many of the latest calls count, and for how long. */
const LATEST_CALLS = 20;
const RECENT_MS = 300_000;
/** Fewer slow calls say little. */
const LEAST_SLOW = 3;

export const addDuration = (latest: readonly CallDuration[], call: CallDuration): readonly CallDuration[] => [
  ...latest.slice(1 - LATEST_CALLS),
  call,
];

/** Returns whether most of the latest calls were slow. */
export function areSlow(latest: readonly CallDuration[], now: number): boolean {
  const recent = latest.filter(({ endedAt }) => now - endedAt < RECENT_MS);
  const slow = recent.filter(({ seconds }) => seconds > SLOW_SECONDS).length;
  return slow >= LEAST_SLOW && slow > recent.length / 2;
}
