/** How long a successful call took. Times by performance.now(). */
export interface CallDuration {
  readonly endedAt: number;
  readonly seconds: number;
}

/** A response that takes longer is slow: a person may be waiting for it. */
export const SLOW_SECONDS = 2;
/** Only the latest 20 calls count, and only for 5 minutes. */
const LATEST_CALLS = 20;
const RECENT_MS = 300_000;
/** Fewer slow calls do not make an operation slow, because they may be chance. */
const LEAST_SLOW = 3;

export const addDuration = (latest: readonly CallDuration[], call: CallDuration): readonly CallDuration[] => [
  ...latest.slice(1 - LATEST_CALLS),
  call,
];

export interface LatestCalls {
  readonly calls: number;
  readonly slow: number;
}

export function countSlow(latest: readonly CallDuration[], now: number): LatestCalls {
  const recent = latest.filter(({ endedAt }) => now - endedAt < RECENT_MS);
  return { calls: recent.length, slow: recent.filter(({ seconds }) => seconds > SLOW_SECONDS).length };
}

export const areSlow = ({ calls, slow }: LatestCalls): boolean => slow >= LEAST_SLOW && slow > calls / 2;
