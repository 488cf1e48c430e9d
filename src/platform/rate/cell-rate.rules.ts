/** So many times at once, and as often again in every period. */
export interface CellRate {
  readonly amount: number;
  readonly periodMs: number;
}

/**
 * Counts one more by the generic cell rate algorithm, whose whole state is `clearAt`: the time at which everything counted so far is
 * forgotten, undefined before the first. Returns the next `clearAt` and a `waitMs` of 0; or, if the rate is used up, the same
 * `clearAt` and the milliseconds until the next one fits. Times are milliseconds of one clock.
 */
export function takeCell(clearAt: number | undefined, now: number, { amount, periodMs }: CellRate) {
  const next = Math.max(clearAt ?? now, now) + periodMs / amount;
  const waitMs = next - now - periodMs;
  // Less than a millisecond is rounding.
  return waitMs >= 1 ? { waitMs, clearAt: clearAt ?? now } : { waitMs: 0, clearAt: next };
}
