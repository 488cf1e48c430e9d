import { describe, expect, it } from '@jest/globals';
import { secondsUntilReads } from '../../brands/habits.rules.js';
import {
  AGES_PER_E,
  allowedPerSecond,
  nextShortage,
  SHORT_MS,
  stretchFor,
  wantedPerSecond,
  type Shortage,
} from './read-budget.rules.js';
import { planNextReadMs, type OpenPhase } from './schedule.rules.js';

const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 0,
  watchMs: 0,
  lateMs: 0,
  endEvidenceMs: 0,
};

describe('wantedPerSecond', () => {
  it('is what planNextReadMs leads to, within 3 %', () => {
    const ages = Array.from({ length: 5_000 }, (_, i) => 1 + i * 100);
    const phases: readonly OpenPhase[] = ['awaiting_owner', 'settling', 'late'];
    const now = new Date();
    const groups = new Map<string, { phase: OpenPhase; age: number; sessions: number }>();
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
    const learned = secondsUntilReads(Array<number>(29).fill(12.5 / 300 ** 2));
    // In the middle of its range, an interval is 5 % longer than planned.
    expect(wantedPerSecond([{ ...group, secondsUntilReads: learned }], SETTINGS)).toBeCloseTo(2 / 1.05, 6);
    expect(wantedPerSecond([group], SETTINGS)).not.toBeCloseTo(2 / 1.05, 1);
  });
});

describe('R43: the stretch', () => {
  it('lets what is wanted fit into 97 % of the ceiling, whatever it was before', () => {
    expect(stretchFor(485, allowedPerSecond(100))).toBe(5);
    expect(stretchFor(485, allowedPerSecond(10))).toBeCloseTo(50, 9);
  });

  it('is 1 while there is room or no ceiling, and is bounded', () => {
    expect(stretchFor(10, allowedPerSecond(100))).toBe(1);
    expect(stretchFor(0, 0.1)).toBe(1);
    expect(stretchFor(1e6, allowedPerSecond(Infinity))).toBe(1);
    expect(stretchFor(1e6, 0.1)).toBe(1_000);
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
    expect(nextShortage(none, 2, at(0))).toEqual(none);
    expect(nextShortage(began, 2.5, new Date(at(0).getTime() + SHORT_MS - 1)).announcedAt).toBeNull();
    expect(nextShortage(announced, 1.5, at(20))).toEqual(none);
    expect(nextShortage(announced, 1.8, at(20))).toEqual(announced);
    expect(nextShortage(announced, 1.4, at(21))).toEqual(none);
    expect(nextShortage(began, 1.8, at(5))).toEqual(none);
  });
});
