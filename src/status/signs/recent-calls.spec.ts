import { describe, expect, it } from '@jest/globals';
import { RecentCalls, summarise } from './recent-calls.js';

/** Returns the counts of a replica. Each number is the duration of a successful call, and null is a failed call. */
function countsOf(calls: readonly (number | null)[], now = 0) {
  const recent = new RecentCalls();
  for (const call of calls) recent.add(call, now);
  return recent.count(now);
}
const upTo = (last: number, unit: number) => Array.from({ length: last }, (_, n) => (n + 1) * unit);

describe('the recent calls', () => {
  it.each([0.001, 0.1, 1, 45])('have percentiles within 5 %%: up to 1,000 times %d s', (unit) => {
    const { p50Seconds, p95Seconds } = summarise([countsOf(upTo(1_000, unit))]);
    expect(Math.abs(p50Seconds! / (500 * unit) - 1)).toBeLessThan(0.05);
    expect(Math.abs(p95Seconds! / (950 * unit) - 1)).toBeLessThan(0.05);
  });

  it('have the percentile of all replicas together, not the mean of theirs', () => {
    const [few, many] = [countsOf([5, 5]), countsOf(upTo(98, 0.001))];
    expect(summarise([few, many])).toEqual({
      succeeded: 100,
      failed: 0,
      p50Seconds: expect.closeTo(0.05, 2),
      p95Seconds: expect.closeTo(0.095, 2),
    });
  });

  it('count failed calls, which have no duration', () => {
    expect(summarise([countsOf([null, null, 0.1])])).toMatchObject({ succeeded: 1, failed: 2 });
    expect(summarise([countsOf([null])])).toEqual({
      succeeded: 0,
      failed: 1,
      p50Seconds: null,
      p95Seconds: null,
    });
    expect(summarise([])).toEqual({ succeeded: 0, failed: 0, p50Seconds: null, p95Seconds: null });
  });

  it('are forgotten after 5 minutes', () => {
    const recent = new RecentCalls();
    recent.add(9, 0);
    recent.add(null, 1_000);
    recent.add(1, 200_000);
    expect(summarise([recent.count(299_999)])).toMatchObject({ succeeded: 2, failed: 1 });
    expect(summarise([recent.count(300_000)])).toMatchObject({ succeeded: 1, failed: 0 });
    expect(summarise([recent.count(500_000)])).toMatchObject({ succeeded: 0, failed: 0 });
    recent.add(1, 500_000);
    expect(summarise([recent.count(0)])).toMatchObject({ succeeded: 1, failed: 0 });
  });
});
