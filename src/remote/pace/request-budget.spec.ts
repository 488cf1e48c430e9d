import { describe, expect, it, jest } from '@jest/globals';
import { RequestBudget } from './request-budget.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the request budget', () => {
  it('costs nothing without a ceiling', () => {
    const draw = jest.fn(() => Promise.resolve(0));
    const budget = new RequestBudget(Infinity, draw);
    expect([budget.take(0, 1), budget.perSecond, draw.mock.calls.length]).toEqual([0, Infinity, 0]);
  });

  it('draws as many tokens as requests wait, at most those of a quarter of a second, and at least one', async () => {
    for (const [ceiling, waiting, ms] of [
      [100, 3, 30],
      [100, 80, 250],
      [1, 80, 1_000],
    ] as const) {
      const draw = jest.fn(() => Promise.resolve(0));
      const budget = new RequestBudget(ceiling, draw);
      expect([budget.take(0, waiting), budget.take(0, waiting)]).toEqual([Infinity, Infinity]);
      await settle();
      expect(draw.mock.calls).toEqual([[ms]]);
    }
  });

  it('spaces requests evenly, from the time of its tokens on', async () => {
    const budget = new RequestBudget(10, () => Promise.resolve(500));
    const ready = new Promise<void>((resolve) => (budget.onDraw = resolve));
    budget.take(performance.now(), 2);
    await ready;
    const now = performance.now();
    expect(budget.take(now, 2)).toBeCloseTo(500, -2);
    expect(budget.isPaced).toBe(true);
    expect(budget.take(now + 500, 2)).toBe(0);
    expect(budget.take(now + 500, 1)).toBeCloseTo(100, -1);
    expect(budget.take(now + 600, 1)).toBe(0);
    expect(budget.take(now + 600, 1)).toBe(Infinity);
  });

  it('does not use tokens whose time is over', async () => {
    const budget = new RequestBudget(10, () => Promise.resolve(0));
    budget.take(0, 2);
    await settle();
    expect(budget.take(performance.now() + 1_000, 2)).toBe(Infinity);
  });

  it('draws again after a draw that failed', async () => {
    let isAway = true;
    const draw = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(0));
    const budget = new RequestBudget(10, draw);
    const tried = new Promise<void>((resolve) => (budget.onDraw = resolve));
    budget.take(0, 1);
    await tried;
    isAway = false;
    expect(budget.take(performance.now(), 1)).toBe(Infinity);
    await settle();
    expect(budget.take(performance.now(), 1)).toBe(0);
  });
});
