import { describe, expect, it } from '@jest/globals';
import { LANES, LANE_STARTS_SECONDS, shareOfFresh } from './lanes.rules.js';

describe('lanes', () => {
  it('reach from a second to hours, each four times the one before', () => {
    expect(LANES.map(({ longestSeconds }) => longestSeconds)).toEqual([
      1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536,
    ]);
    expect(LANES.map(({ lane }) => lane)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(LANE_STARTS_SECONDS).toEqual(LANES.slice(0, -1).map(({ longestSeconds }) => longestSeconds));
    for (const { longestSeconds, lateAfterSeconds } of LANES)
      expect(lateAfterSeconds).toBe(2 * longestSeconds);
  });

  it.each([0, 0.3, 0.999])(
    'leave at least half of a claim to sessions that are not fresh (random %d)',
    (random) => {
      for (const limit of [2, 10, 500]) expect(shareOfFresh(limit, random)).toBe(limit / 2);
    },
  );

  it('give a claim of one session to the fresh half of the time', () => {
    expect([0, 0.49, 0.5, 0.999].map((random) => shareOfFresh(1, random))).toEqual([0, 0, 1, 1]);
  });
});
