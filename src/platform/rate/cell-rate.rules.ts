/** `amount` per period, with bursts of up to `amount`. */
export interface CellRate {
  readonly amount: number;
  readonly periodMs: number;
}

/**
 * Counts one more with the generic cell rate algorithm. Its whole state is `clearAt`: the time from which nothing counted so far matters,
 * undefined before the first. Returns the next `clearAt` and a `waitMs` of 0. If the rate is used up, returns the same `clearAt` and the
 * milliseconds until the next one fits. Times are milliseconds of one clock.
 */
export function takeCell(clearAt: number | undefined, now: number, { amount, periodMs }: CellRate) {
  const next = Math.max(clearAt ?? now, now) + periodMs / amount;
  const waitMs = next - now - periodMs;
  // A wait below one millisecond is a rounding error.
  return waitMs >= 1 ? { waitMs, clearAt: clearAt ?? now } : { waitMs: 0, clearAt: next };
}
