import { describe, expect, it } from '@jest/globals';
import { RequestRate } from './request-rate.js';

describe('the request rate', () => {
  /** Returns the time at which the next request is admitted. */
  function admittedAt(rate: RequestRate, now: number): number {
    const waitMs = rate.take(now);
    return waitMs === 0 ? now : admittedAt(rate, now + waitMs);
  }

  it('spaces requests evenly after a burst', () => {
    const rate = new RequestRate(() => 10);
    const times = [0, 0, 0, 0].map((now) => admittedAt(rate, now));
    expect(times).toEqual([0, 0, 100, 200]);
  });

  it('admits a waiting request soon after the share has risen', () => {
    let perSecond = 0.1;
    const rate = new RequestRate(() => perSecond);
    expect(rate.take(0)).toBe(0);
    expect(rate.take(1_000)).toBeGreaterThan(0);
    perSecond = 10;
    expect(admittedAt(rate, 1_000)).toBeLessThanOrEqual(1_100);
  });

  it('still counts the requests of a larger share after the share has fallen', () => {
    let perSecond = 10;
    const rate = new RequestRate(() => perSecond);
    for (const now of [0, 0]) rate.take(now);
    perSecond = 1;
    expect(admittedAt(rate, 0)).toBeGreaterThanOrEqual(900);
  });
});
