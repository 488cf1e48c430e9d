import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  HABIT_AGES_PER_E,
  habitAgeOf,
  hazardsOf,
  LEAST_CHANGES,
  OLDEST_HABIT,
  secondsUntilReads,
  type HabitCount,
} from './habits.rules.js';

const HOUR = 3_600;
const BOUNDS = { least: 1 / 7_200, most: 1 / 15 };

/** Counts stays that end at given ages, by a change or otherwise. */
function countsOf(stays: readonly { readonly seconds: number; readonly isChange: boolean }[]): HabitCount[] {
  const groups = new Map<number, HabitCount>();
  for (const { seconds, isChange } of stays) {
    const age = habitAgeOf(seconds);
    const before = groups.get(age) ?? { age, changed: 0, ended: 0, seconds: 0 };
    const beyond = seconds - (age === 0 ? 0 : Math.exp(age / HABIT_AGES_PER_E));
    groups.set(age, {
      age,
      changed: before.changed + Number(isChange),
      ended: before.ended + 1,
      seconds: before.seconds + beyond,
    });
  }
  return [...groups.values()];
}

/** Returns ages spread evenly over an exponential distribution, whose hazard is the same at every age. */
const exponential = (count: number, hazard: number) =>
  Array.from({ length: count }, (_, i) => -Math.log(1 - (i + 0.5) / count) / hazard);

const changes = (ages: readonly number[]) => ages.map((seconds) => ({ seconds, isChange: true }));

describe('hazardsOf', () => {
  it('returns the changes divided by the time watched, at every age', () => {
    const hazards = hazardsOf(countsOf(changes(exponential(5_000, 1 / HOUR))))!;
    for (let age = habitAgeOf(60); age <= habitAgeOf(3 * HOUR); age++)
      expect(hazards[age]! * HOUR).toBeCloseTo(1, 0);
    expect(hazards[habitAgeOf(HOUR)]! * HOUR).toBeCloseTo(1, 1);
  });

  it('counts sessions that left in another way, or are still in the phase, as watched until then', () => {
    const ages = exponential(5_000, 1 / HOUR);
    const others = ages.toReversed();
    // Each session ends at its change, or at another time from the same distribution, whichever comes first. So half of the sessions
    // change, at the same hazard.
    const stays = ages.map((seconds, i) => {
      const other = others[(i * 7_919) % others.length]!;
      return { seconds: Math.min(seconds, other), isChange: seconds <= other };
    });
    expect(hazardsOf(countsOf(stays))![habitAgeOf(HOUR)]! * HOUR).toBeCloseTo(1, 1);
    const ofChangesOnly = hazardsOf(countsOf(stays.filter(({ isChange }) => isChange)))!;
    expect(ofChangesOnly[habitAgeOf(HOUR)]! * HOUR).toBeGreaterThan(1.5);
  });

  it('returns undefined for fewer than 200 changes, however many sessions never changed', () => {
    const never = Array.from({ length: 1_000 }, () => ({ seconds: 24 * HOUR, isChange: false }));
    const ages = exponential(LEAST_CHANGES, 1 / HOUR);
    expect(hazardsOf(countsOf([...changes(ages.slice(1)), ...never]))).toBeUndefined();
    expect(hazardsOf(countsOf([...changes(ages), ...never]))).toBeDefined();
    expect(hazardsOf([])).toBeUndefined();
  });

  it('joins groups with few changes with their neighbours, so that every age has a hazard', () => {
    const hazards = hazardsOf(countsOf(changes(Array.from({ length: 300 }, () => 2 * HOUR))))!;
    expect(hazards).toHaveLength(OLDEST_HABIT + 1);
    for (const hazard of hazards) expect(hazard).toBeGreaterThan(0);
    expect(hazards.indexOf(Math.max(...hazards))).toBe(habitAgeOf(2 * HOUR));
    expect(hazards[0]).toBeLessThan(hazards[habitAgeOf(2 * HOUR)]! / 2);
  });
});

describe('secondsUntilReads', () => {
  const flat = (hazard: number) => Array<number>(OLDEST_HABIT + 1).fill(hazard);

  it('is √(2p / h), at 2p = 12.5 s', () => {
    expect(secondsUntilReads(flat(12.5 / 300 ** 2))(HOUR, 1, BOUNDS)).toBeCloseTo(300, 6);
    expect(secondsUntilReads(flat(12.5 / 300 ** 2))(HOUR, 5, BOUNDS)).toBeCloseTo(1_500, 6);
  });

  it('falls as the hazards rise, and grows with the reads', () => {
    const hazards = fc.array(fc.double({ min: 1e-9, max: 1, noNaN: true }), {
      minLength: OLDEST_HABIT + 1,
      maxLength: OLDEST_HABIT + 1,
    });
    const age = fc.integer({ min: -HOUR, max: 400 * 24 * HOUR });
    const reads = fc.double({ min: 1, max: 1_000, noNaN: true });
    fc.assert(
      fc.property(hazards, age, reads, (h, from, count) => {
        const seconds = secondsUntilReads(h)(from, count, BOUNDS);
        expect(seconds).toBeGreaterThanOrEqual(count / BOUNDS.most - 1e-6);
        expect(seconds).toBeLessThanOrEqual((count / BOUNDS.least) * (1 + 1e-9));
        const higher = h.map((hazard) => hazard * 2);
        expect(secondsUntilReads(higher)(from, count, BOUNDS)).toBeLessThanOrEqual(seconds * (1 + 1e-9));
        expect(secondsUntilReads(h)(from, count + 1, BOUNDS)).toBeGreaterThan(seconds);
      }),
    );
  });

  it('is shorter before a rise of the hazard than before a fall', () => {
    const at = habitAgeOf(HOUR);
    const high = 12.5 / 60 ** 2;
    const low = 12.5 / 1_800 ** 2;
    const rising = flat(low).map((hazard, age) => (age > at ? high : hazard));
    const falling = flat(low).map((hazard, age) => (age < at ? high : hazard));
    expect(secondsUntilReads(rising)(HOUR, 1, BOUNDS)).toBeLessThan(1_700);
    expect(secondsUntilReads(falling)(HOUR, 1, BOUNDS)).toBeCloseTo(1_800, 6);
  });
});
