/**
 * How many calls may be in flight at once, learned from how they end (additive increase, multiplicative decrease). Pure.
 *
 * It starts low and doubles per round trip until the service first refuses (`seeking`), then grows by one per round trip and
 * gives a tenth back at each refusal: so it stays between 90 and 100 % of what the service takes, and meets a refusal once in
 * some dozens of calls. A deadline passed says more than a refusal: that service is drowning, so half is given back.
 */
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

/** A limit that was not reached has not been tested, so it does not grow. */
export function raise(state: ConcurrencyLimit, inFlight: number, ceiling: number): ConcurrencyLimit {
  if (state.limit >= ceiling || inFlight < Math.floor(state.limit)) return state;
  return { ...state, limit: Math.min(ceiling, state.limit + (state.seeking ? 1 : 1 / state.limit)) };
}

/** Calls that left before the last decrease were sent under the old limit: their failures are no news. */
export function lower(
  state: ConcurrencyLimit,
  cause: 'refusal' | 'timeout',
  sentAt: number,
  now: number,
): ConcurrencyLimit {
  if (sentAt < state.loweredAt) return state;
  const kept = cause === 'timeout' || state.seeking ? KEPT_AFTER_TIMEOUT : KEPT_AFTER_REFUSAL;
  return { limit: Math.max(1, state.limit * kept), seeking: false, loweredAt: now };
}
