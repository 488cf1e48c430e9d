import { describe, expect, it } from '@jest/globals';
import {
  AGES_PER_E,
  allowedPerSecond,
  nextPrice,
  nextShortage,
  nextStretch,
  SHORT_MS,
  wantedPerSecond,
  type Price,
  type PriceFacts,
  type Shortage,
} from './price.rules.js';
import { planNextReadMs, type Phase } from './schedule.rules.js';

const SETTINGS = { minIntervalMs: 15_000, maxIntervalMs: 900_000, settleMs: 0, lateMs: 0, endEvidenceMs: 0 };
const FACTS: PriceFacts = {
  wantedPerSecond: 100,
  ceilingPerSecond: Infinity,
  readPerSecond: 100,
  isBehind: false,
  isHealthy: true,
};
const START: Price = {
  stretch: 1,
  capacityPerSecond: null,
  ceilingPerSecond: Infinity,
  wasBehind: false,
  readPerSecond: 100,
};
const LEARNED: Price = { ...START, stretch: 5, capacityPerSecond: 20, readPerSecond: 20 };

/** Returns the prices after each of the facts. */
function run(price: Price, ...steps: readonly Partial<PriceFacts>[]): Price[] {
  return steps.map((facts) => (price = nextPrice(price, { ...FACTS, ...facts })));
}

const repeat = <T>(count: number, value: T): T[] => Array<T>(count).fill(value);

describe('wantedPerSecond', () => {
  it('is what planNextReadMs leads to, within 3 %', () => {
    const ages = Array.from({ length: 5_000 }, (_, i) => 1 + i * 100);
    const phases: readonly Phase[] = ['awaiting_owner', 'settling', 'late'];
    const now = new Date();
    const groups = new Map<string, { phase: Phase; age: number; sessions: number }>();
    let wanted = 0;
    for (const phase of phases)
      for (const seconds of ages) {
        const anchorAt = new Date(now.getTime() - seconds * 1_000);
        wanted += 1_000 / planNextReadMs({ phase, anchorAt, failures: 0 }, now, SETTINGS, 1, 0.5);
        const age = Math.floor(AGES_PER_E * Math.log(seconds));
        const group = groups.get(`${phase} ${age}`) ?? { phase, age, sessions: 0 };
        groups.set(`${phase} ${age}`, { ...group, sessions: group.sessions + 1 });
      }
    expect(wantedPerSecond([...groups.values()], SETTINGS) / wanted).toBeCloseTo(1, 1);
    expect(Math.abs(wantedPerSecond([...groups.values()], SETTINGS) / wanted - 1)).toBeLessThan(0.03);
  });
});

describe('wantedPerSecond of brands whose hazards are known', () => {
  it('follows these hazards', () => {
    const group = { phase: 'late', age: AGES_PER_E * 9, sessions: 600 } as const;
    const hazards = Array<number>(29).fill(12.5 / 300 ** 2);
    // In the middle of its range, an interval is 5 % longer than planned.
    expect(wantedPerSecond([{ ...group, hazards }], SETTINGS)).toBeCloseTo(2 / 1.05, 6);
    expect(wantedPerSecond([group], SETTINGS)).not.toBeCloseTo(2 / 1.05, 1);
  });
});

describe('nextStretch', () => {
  it('approaches wanted / allowed from one side', () => {
    let stretch = 1;
    for (let step = 0; step < 30; step++) {
      const next = nextStretch(stretch, 500, 100);
      expect(next).toBeGreaterThan(stretch);
      expect(next).toBeLessThanOrEqual(5);
      stretch = next;
    }
    expect(stretch).toBeCloseTo(5, 5);
  });

  it('is 1 again while there is room, and never less', () => {
    let stretch = 40;
    for (let step = 0; step < 10; step++) stretch = nextStretch(stretch, 10, 100);
    expect(stretch).toBe(1);
    expect(nextStretch(1, 0, 0.1)).toBe(1);
    expect(nextStretch(1, 10, Infinity)).toBe(1);
  });
});

describe('nextPrice', () => {
  it('keeps the stretch during an outage, and learns nothing from it', () => {
    const outage = { isHealthy: false, readPerSecond: 0, isBehind: true };
    const before: Price = { ...START, stretch: 3, capacityPerSecond: 30, readPerSecond: 30 };
    const during = run(before, ...repeat(100, outage)).at(-1)!;
    expect(during).toEqual({ ...before, readPerSecond: null });
    // The first step after it may include some time of the outage.
    const [after] = run(during, { readPerSecond: 2, isBehind: true });
    expect(after!.capacityPerSecond).toBe(30);
  });

  it('learns nothing from the few reads that a service in trouble still serves', () => {
    const brownOut = { isHealthy: false, readPerSecond: 0.5, isBehind: true };
    expect(run(START, ...repeat(40, brownOut)).at(-1)).toEqual({ ...START, readPerSecond: null });
  });

  it('forgets a capacity that it learned under another ceiling', () => {
    const before = { ...LEARNED, ceilingPerSecond: 20 };
    const raised = { ceilingPerSecond: 200, readPerSecond: 20, isBehind: true };
    const prices = run(before, raised, ...repeat(9, { ceilingPerSecond: 200 }));
    expect(prices[0]).toMatchObject({ capacityPerSecond: null, ceilingPerSecond: 200, wasBehind: false });
    expect(prices.at(-1)!.stretch).toBe(1);
    // The change may happen during an outage.
    const [, after] = run(before, { ...raised, readPerSecond: 0, isHealthy: false }, raised);
    expect(after!.capacityPerSecond).toBeNull();
  });

  it('learns the capacity from the reads that are done while sessions wait', () => {
    const prices = run(START, ...repeat(12, { readPerSecond: 20, isBehind: true }));
    expect(prices.at(-1)!.capacityPerSecond).toBe(20);
    expect(prices.at(-1)!.stretch).toBeCloseTo(100 / (0.97 * 20), 1);
  });

  it('tests a capacity again while nothing waits, fast if it is used, and forgets it once it limits nothing', () => {
    expect(run(LEARNED, { readPerSecond: 19 })[0]!.capacityPerSecond).toBeCloseTo(21.9);
    expect(run(LEARNED, { readPerSecond: 10 })[0]!.capacityPerSecond).toBeCloseTo(20.04);
    expect(run(LEARNED, { readPerSecond: 0 })[0]!.capacityPerSecond).toBe(20);
    let price = LEARNED;
    for (let step = 0; step < 80; step++)
      price = run(price, { readPerSecond: Math.min(100, 0.95 * (price.capacityPerSecond ?? 100)) })[0]!;
    expect(price).toMatchObject({ capacityPerSecond: null, stretch: 1 });
  });

  it('takes the better of two steps that are behind as the capacity, and raises it to the reads of a better one', () => {
    const behind = (readPerSecond: number) => ({ readPerSecond, isBehind: true });
    expect(run(START, behind(90), behind(80))[1]!.capacityPerSecond).toBe(90);
    expect(run(LEARNED, behind(30), behind(40))[1]!.capacityPerSecond).toBe(40);
    expect(run(LEARNED, { readPerSecond: 50 })[0]!.capacityPerSecond).toBe(50);
  });

  it('counts a capacity as used from 90 % on, and forgets it above 110 % of what all sessions want', () => {
    const [at, below] = [18, 17].map(
      (readPerSecond) => run(LEARNED, { readPerSecond })[0]!.capacityPerSecond,
    );
    expect(at).toBeCloseTo(21.8);
    expect(below).toBeCloseTo(20.068);
    const [kept, forgotten] = [100, 101].map(
      (capacityPerSecond) =>
        run({ ...LEARNED, capacityPerSecond }, { readPerSecond: 95 })[0]!.capacityPerSecond,
    );
    expect(kept).toBeCloseTo(109.5);
    expect(forgotten).toBeNull();
  });

  it('does not mistake a short step for a limit', () => {
    const short = { readPerSecond: 3, isBehind: true };
    expect(run(START, short)[0]).toMatchObject({ capacityPerSecond: null, stretch: 1 });
    expect(run(START, short, { readPerSecond: 90, isBehind: true })[1]!.capacityPerSecond).toBe(90);
    // There was almost nothing to read, and then much.
    const idle = { ...START, readPerSecond: 0.1 };
    expect(run(idle, { readPerSecond: 0.2, isBehind: true })[0]).toMatchObject({
      capacityPerSecond: null,
      stretch: 1,
    });
    expect(
      run({ ...START, wasBehind: true, readPerSecond: null }, { readPerSecond: 3, isBehind: true })[0]!
        .stretch,
    ).toBe(1);
    // A requested wait ends the reads for two steps, and the next one begins late.
    const wait = [33, 0, 0, 20].map((readPerSecond) => ({ readPerSecond, isBehind: true }));
    expect(run(START, ...wait).map(({ stretch }) => stretch)).toEqual([1, 1, 1, 1]);
  });

  it('plans 97 % of the lower of ceiling and capacity', () => {
    expect(allowedPerSecond(100, null)).toBe(97);
    expect(allowedPerSecond(100, 50)).toBe(48.5);
    expect(allowedPerSecond(Infinity, null)).toBe(Infinity);
  });
});

describe('nextShortage', () => {
  const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes));
  const none: Shortage = { shortSince: null, announcedAt: null };

  it('is announced after 15 minutes above 2, and over below 1.5', () => {
    const began = nextShortage(none, 2.5, at(0));
    expect(began).toEqual({ shortSince: at(0), announcedAt: null });
    expect(nextShortage(began, 2.5, at(14)).announcedAt).toBeNull();
    const announced = nextShortage(began, 2.5, new Date(at(0).getTime() + SHORT_MS));
    expect(announced).toEqual({ shortSince: at(0), announcedAt: at(15) });
    expect(nextShortage(announced, 1.8, at(20))).toEqual(announced);
    expect(nextShortage(announced, 1.4, at(21))).toEqual(none);
    expect(nextShortage(began, 1.8, at(5))).toEqual(none);
  });
});
