/** Allows `amount` events per period, even all at once. */
export interface CellRate {
  readonly amount: number;
  readonly periodMs: number;
}

/** Counts one event by the generic cell rate algorithm, unless it must wait. `clearAt`: when the full amount is allowed again. */
export function takeCell(clearAt: number | undefined, now: number, { amount, periodMs }: CellRate) {
  const next = Math.max(clearAt ?? now, now) + periodMs / amount;
  const waitMs = next - now - periodMs;
  // A wait below one millisecond is a rounding error.
  return waitMs >= 1 ? { waitMs, clearAt: clearAt ?? now } : { waitMs: 0, clearAt: next };
}
