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
/** Fewer slow calls do not make an operation slow, because they may be chance. As many fast calls in a row end it, for the same reason. */
const LEAST_SLOW = 3;

export const addDuration = (latest: readonly CallDuration[], call: CallDuration): readonly CallDuration[] => [
  ...latest.slice(1 - LATEST_CALLS),
  call,
];

export interface LatestCalls {
  readonly calls: number;
  readonly slow: number;
}

/** Counts the recent calls. If the latest calls are all fast, counts none before them: the operation was slow and has recovered. */
export function countSlow(latest: readonly CallDuration[], now: number): LatestCalls {
  const recent = latest.filter(({ endedAt }) => now - endedAt < RECENT_MS).map(isSlow);
  const fast = recent.length - 1 - recent.lastIndexOf(true);
  const counted = fast >= LEAST_SLOW ? recent.slice(-fast) : recent;
  return { calls: counted.length, slow: counted.filter(Boolean).length };
}

const isSlow = ({ seconds }: CallDuration): boolean => seconds > SLOW_SECONDS;

export const areSlow = ({ calls, slow }: LatestCalls): boolean => slow >= LEAST_SLOW && slow > calls / 2;
