import { describe, expect, it } from '@jest/globals';
import { RateLimit } from './rate-limit.js';

const takeAll = (limit: RateLimit, subject: string, now: number): number => {
  let taken = 0;
  while (limit.take(subject, now).waitMs === 0) taken++;
  return taken;
};

describe('RateLimit', () => {
  it.each([1, 3, 20, 300, 3_000])('allows %d calls at once, and returns the wait for the next', (amount) => {
    const limit = new RateLimit('test', { amount, periodMs: 10_000 });
    expect(takeAll(limit, 'a', 123.456)).toBe(amount);
    const { waitMs } = limit.take('a', 123.456);
    expect(waitMs).toBeCloseTo(10_000 / amount, 6);
    expect(limit.take('a', 123.456 + waitMs).waitMs).toBe(0);
  });

  it('allows no more calls over time than its rate', () => {
    const limit = new RateLimit('test', { amount: 20, periodMs: 60_000 });
    let taken = 0;
    for (let now = 0; now < 600_000; now += 100) if (limit.take('a', now).waitMs === 0) taken++;
    expect(taken).toBe(20 + 199);
  });

  it('allows the whole quota again after a period without calls', () => {
    const limit = new RateLimit('test', { amount: 20, periodMs: 60_000 });
    takeAll(limit, 'a', 0);
    expect(takeAll(limit, 'a', 60_000)).toBe(20);
  });

  it('does not count refused calls, so that they do not lengthen the wait', () => {
    const limit = new RateLimit('test', { amount: 1, periodMs: 1_000 });
    limit.take('a', 0);
    for (let now = 0; now < 999; now++) expect(limit.take('a', now).waitMs).toBeGreaterThan(0);
    expect(limit.take('a', 1_000).waitMs).toBe(0);
  });

  it('states in headers the remaining quota, and when the whole quota is available again', () => {
    const limit = new RateLimit('test', { amount: 20, periodMs: 60_000 });
    expect(limit.take('a', 0).headers).toEqual({
      ratelimit: '"test";r=19;t=3',
      'ratelimit-policy': '"test";q=20;w=60',
    });
    takeAll(limit, 'a', 0);
    expect(limit.take('a', 0).headers.ratelimit).toBe('"test";r=0;t=60');
    expect(limit.take('a', 7_400).headers.ratelimit).toBe('"test";r=1;t=56');
    expect(limit.take('a', 600_000).headers.ratelimit).toBe('"test";r=19;t=3');
  });

  it('counts each subject separately', () => {
    const limit = new RateLimit('test', { amount: 2, periodMs: 1_000 });
    expect([takeAll(limit, 'a', 0), takeAll(limit, 'b', 0)]).toEqual([2, 2]);
  });

  it('gives one call back', () => {
    const limit = new RateLimit('test', { amount: 2, periodMs: 1_000 });
    takeAll(limit, 'a', 0);
    limit.giveBack('a');
    limit.giveBack('never seen');
    expect(takeAll(limit, 'a', 0)).toBe(1);
  });

  it('remembers the 10,000 subjects that were counted last', () => {
    const limit = new RateLimit('test', { amount: 1, periodMs: 1_000 });
    for (let i = 0; i < 10_001; i++) limit.take(`${i}`, 0);
    expect(limit.take('1', 0).waitMs).toBeGreaterThan(0);
    expect(limit.take('0', 0).waitMs).toBe(0);
  });
});
