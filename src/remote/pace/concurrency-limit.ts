/** How many calls may be in flight at once, adapted to their results (additive increase, multiplicative decrease). */
// While `seeking`, the limit doubles per round trip. The first refusal or timeout halves the limit and ends `seeking`.
// Then the limit grows by one per round trip, shrinks by a tenth per refusal and halves per timeout.
export interface ConcurrencyLimit {
  readonly limit: number;
  readonly seeking: boolean;
  readonly loweredAt: number;
}

const FIRST_LIMIT = 8;
const KEPT_AFTER_REFUSAL = 0.9;
const KEPT_AFTER_TIMEOUT = 0.5;

export const firstLimit = (ceiling: number): ConcurrencyLimit => ({
  limit: Math.min(FIRST_LIMIT, ceiling),
  seeking: true,
  loweredAt: -Infinity,
});

/** Raises the limit. A limit that was not reached has not been tested, so it does not grow. */
export function raise(state: ConcurrencyLimit, inFlight: number, ceiling: number): ConcurrencyLimit {
  if (state.limit >= ceiling || inFlight < Math.floor(state.limit)) return state;
  return { ...state, limit: Math.min(ceiling, state.limit + (state.seeking ? 1 : 1 / state.limit)) };
}

/** Lowers the limit. Calls sent before the last decrease were sent under the old limit, so their failures are ignored. */
export function lower(
  state: ConcurrencyLimit,
  cause: 'limited' | 'unavailable' | 'timed_out',
  sentAt: number,
  now: number,
): ConcurrencyLimit {
  if (sentAt < state.loweredAt) return state;
  const kept = cause === 'timed_out' || state.seeking ? KEPT_AFTER_TIMEOUT : KEPT_AFTER_REFUSAL;
  return { limit: Math.max(1, state.limit * kept), seeking: false, loweredAt: now };
}
