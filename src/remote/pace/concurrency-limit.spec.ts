import { describe, expect, it } from '@jest/globals';
import { type ConcurrencyLimit, firstLimit, lower, raise } from './concurrency-limit.js';

const CEILING = 32;

/** Simulates one round trip with as many calls in flight as the limit allows. */
const roundTrip = (state: ConcurrencyLimit): ConcurrencyLimit => {
  const inFlight = Math.floor(state.limit);
  return Array.from({ length: inFlight }).reduce<ConcurrencyLimit>(
    (s) => raise(s, Math.floor(s.limit), CEILING),
    state,
  );
};

describe('concurrency limit', () => {
  it('starts small, never above its ceiling', () => {
    expect(firstLimit(CEILING).limit).toBe(8);
    expect(firstLimit(3).limit).toBe(3);
  });

  it('doubles per round trip until the first refusal, up to its ceiling', () => {
    const once = roundTrip(firstLimit(CEILING));
    expect(once.limit).toBe(16);
    expect(roundTrip(roundTrip(once)).limit).toBe(CEILING);
  });

  it('halves at the first refusal, shrinks by a tenth at later ones, and grows by one per round trip between them', () => {
    const found = lower({ ...firstLimit(CEILING), limit: 20 }, 'limited', 0, 1);
    expect(found.limit).toBe(10);
    const grown = roundTrip(found);
    expect(grown.limit).toBeCloseTo(11, 0);
    expect(lower({ ...found, limit: 20 }, 'limited', 2, 3).limit).toBe(18);
  });

  it('halves at a timeout', () =>
    expect(lower({ limit: 20, seeking: false, loweredAt: 0 }, 'timed_out', 1, 2).limit).toBe(10));

  it('ignores refusals of calls sent before the last decrease', () => {
    const state = { limit: 20, seeking: false, loweredAt: 0 };
    const first = lower(state, 'limited', 5, 10);
    expect(lower(first, 'limited', 6, 11)).toBe(first);
    expect(lower(first, 'limited', 10, 12).limit).toBeLessThan(first.limit);
  });

  it('never falls below one', () => {
    let state = firstLimit(CEILING);
    for (let now = 1; now < 20; now++) state = lower(state, 'timed_out', now, now);
    expect(state.limit).toBe(1);
  });

  it('does not grow while it is not reached', () => {
    const state = firstLimit(CEILING);
    expect(raise(state, 3, CEILING)).toBe(state);
  });
});
