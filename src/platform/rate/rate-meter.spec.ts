import { afterEach, expect, it, jest } from '@jest/globals';
import { RateMeter } from './rate-meter.js';

afterEach(() => void jest.restoreAllMocks());

it('returns the rate of the last period, which ends at the first read after its length', () => {
  let now = 50_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const meter = new RateMeter(1_000);
  const readAfter = (ms: number) => {
    now += ms;
    return meter.perSecond;
  };
  meter.add(3);
  meter.add();
  expect(readAfter(999)).toBe(0);
  expect(readAfter(1)).toBe(4);
  meter.add(10);
  expect([readAfter(999), readAfter(1_001), readAfter(999), readAfter(1)]).toEqual([4, 5, 5, 0]);
});
