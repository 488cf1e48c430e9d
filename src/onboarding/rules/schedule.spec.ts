import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OLDEST_HABIT, secondsUntilReads } from '../../brands/habits.rules.js';
import type { Environment } from '../../platform/env/environment.js';
import { PHASES, phaseOf, planNextReadMs, type Phase, scheduleSettings } from './schedule.rules.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = new Date('2026-11-20T12:00:00Z');
const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 15 * MINUTE,
  settleMs: 72 * HOUR,
  watchMs: 7 * DAY,
  lateMs: 7 * DAY,
  endEvidenceMs: 6 * HOUR,
};

const ago = (ms: number) => new Date(NOW.getTime() - ms);
const next = (phase: Phase, ageMs: number, failures = 0, random = 0, stretch = 1) =>
  planNextReadMs({ phase, anchorAt: ago(ageMs), failures }, NOW, SETTINGS, stretch, random);

/** Returns how many reads a session gets in a phase that lasts `lifeMs`. */
function readsIn(phase: Phase, lifeMs: number): number {
  let reads = 0;
  for (let ageMs = 0; ageMs < lifeMs; ageMs += next(phase, ageMs, 0, 0.5)) reads++;
  return reads;
}

describe('planNextReadMs', () => {
  it('stays between floor and ceiling at stretch 1, whatever the phase, age, failures and chance', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PHASES),
        fc.integer({ min: -DAY, max: 400 * DAY }),
        fc.nat(1_000),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 10, max: HOUR }),
        fc.integer({ min: 0, max: DAY }),
        (phase, ageMs, failures, random, minIntervalMs, more) => {
          const settings = { ...SETTINGS, minIntervalMs, maxIntervalMs: minIntervalMs + more };
          const ms = planNextReadMs({ phase, anchorAt: ago(ageMs), failures }, NOW, settings, 1, random);
          const ceilings = {
            settling: 4,
            late: 8,
            awaiting_owner: 1,
            awaiting_installation: 1,
            unrecognised: 1,
          };
          expect(ms).toBeGreaterThanOrEqual(minIntervalMs);
          expect(ms).toBeLessThanOrEqual((minIntervalMs + more) * ceilings[phase]);
        },
      ),
    );
  });

  it('reads at the floor while somebody is watching a screen, then at intervals that grow with the root of the age', () => {
    expect(next('awaiting_owner', 0)).toBe(15_000);
    expect(next('awaiting_owner', 10 * MINUTE)).toBe(15_000);
    expect(next('awaiting_owner', HOUR)).toBeCloseTo(275_000, -4);
    expect(
      next('awaiting_owner', 10 * MINUTE + 4 * HOUR) / next('awaiting_owner', 10 * MINUTE + HOUR),
    ).toBeCloseTo(2, 2);
    expect(next('awaiting_owner', 10 * HOUR)).toBeGreaterThan(13 * MINUTE);
  });

  it('R41: reads a session that is younger than 10 minutes within 2.5 of the shortest intervals', () => {
    for (const phase of ['awaiting_owner', 'awaiting_installation'] as const)
      for (let ageMs = 0; ageMs < 10 * MINUTE; ageMs += 1_000)
        expect(next(phase, ageMs, 0, 0.999)).toBeLessThanOrEqual(2.5 * SETTINGS.minIntervalMs);
  });

  it('begins anew when an installation is expected', () => {
    expect(next('awaiting_installation', 0)).toBeLessThan(next('awaiting_owner', 5 * HOUR));
  });

  it('reads an unrecognised session half as often as an open one, at first for 5 minutes', () => {
    for (const ageMs of [0, 5 * MINUTE]) expect(next('unrecognised', ageMs)).toBe(30_000);
    expect(next('unrecognised', 6 * MINUTE)).toBeGreaterThan(60_000);
  });

  it('begins slower while settling and after expiry, and slows down to intervals of one and two hours', () => {
    expect(next('settling', 0)).toBe(MINUTE);
    expect(next('settling', 72 * HOUR)).toBeGreaterThan(50 * MINUTE);
    expect(next('late', 0)).toBe(2 * MINUTE);
    expect(next('late', 7 * DAY)).toBeGreaterThan(100 * MINUTE);
  });

  it('spends at most 180 reads on an abandoned session until it expires, and 150 on the week after', () => {
    expect(readsIn('awaiting_owner', DAY)).toBeLessThan(180);
    expect(readsIn('late', 7 * DAY)).toBeLessThan(150);
  });

  it('stretches the intervals of all sessions alike, the ceiling included, but not the waits after failures', () => {
    for (const phase of PHASES)
      for (const ageMs of [0, HOUR, 30 * DAY])
        expect(next(phase, ageMs, 0, 0.3, 5)).toBeCloseTo(5 * next(phase, ageMs, 0, 0.3), 5);
    expect(next('awaiting_owner', 0, 4, 0, 5)).toBe(240_000);
    expect(next('awaiting_owner', 0, 1, 0, 5)).toBe(75_000);
  });

  it('backs off after failures, and never reads sooner because of them', () => {
    const waits = [0, 1, 2, 3, 4].map((failures) => next('awaiting_owner', 0, failures));
    expect(waits).toEqual([15_000, 30_000, 60_000, 120_000, 240_000]);
    expect(next('awaiting_owner', HOUR, 1)).toBe(next('awaiting_owner', HOUR));
  });

  it.each<[string, number, number, number]>([
    ['at that time', 8 * MINUTE, 1, 8 * MINUTE],
    ['later under a tight budget', 8 * MINUTE, 2, 16 * MINUTE],
    ['not sooner than the floor', 1_000, 1, 15_000],
    ['at the floor if that time is over', -HOUR, 1, 15_000],
    ['as usual if that time is later', DAY, 1, next('settling', 72 * HOUR)],
  ])('reads a session with an absent inverter %s', (_, inMs, stretch, ms) => {
    const session = {
      phase: 'settling' as const,
      anchorAt: ago(72 * HOUR),
      failures: 0,
      lookAgainAt: ago(-inMs),
    };
    expect(planNextReadMs(session, NOW, SETTINGS, stretch, 0)).toBe(ms);
  });

  it.each<[string, number, number | undefined, number]>([
    ['after WATCH_ONLINE_DAYS, at any age', 0, undefined, 7 * DAY],
    ['when an absent inverter may be missing', 0, 8 * MINUTE, 8 * MINUTE],
    ['soon after a failure', 1, undefined, 30_000],
    ['later after each failure', 4, undefined, 4 * MINUTE],
    ['at the latest after WATCH_ONLINE_DAYS, however often reads have failed', 1_000, undefined, 7 * DAY],
  ])('reads a settled session %s, and is not stretched', (_, failures, lookInMs, ms) => {
    const lookAgainAt = lookInMs === undefined ? null : ago(-lookInMs);
    for (const ageMs of [0, 400 * DAY]) {
      const session = { phase: 'watching' as const, anchorAt: ago(ageMs), failures, lookAgainAt };
      expect(planNextReadMs(session, NOW, SETTINGS, 5, 0)).toBe(ms);
      expect(planNextReadMs(session, NOW, SETTINGS, 5, 0.5)).toBe(ms * 1.05);
    }
  });

  it('R27: spreads sessions that were read together', () => {
    expect(next('awaiting_owner', 0, 0, 0.5)).not.toBe(next('awaiting_owner', 0, 0, 0.6));
    expect(next('late', 30 * DAY, 0, 0.5)).not.toBe(next('late', 30 * DAY, 0, 0.6));
  });
});

it('takes its settings from the environment, and the time that evidence must last from the shortest interval', () => {
  const environment = {
    POLL_MIN_INTERVAL_MS: 15_000,
    POLL_MAX_INTERVAL_MS: 15 * MINUTE,
    SETTLE_HOURS: 72,
    WATCH_ONLINE_DAYS: 7,
    LATE_ONLINE_DAYS: 7,
  } as Environment;
  expect(scheduleSettings(environment)).toEqual(SETTINGS);
});

it.each([
  ['awaiting_owner', 'awaiting_owner'],
  ['awaiting_installation', 'awaiting_installation'],
  ['unrecognised', 'unrecognised'],
  ['online', 'settling'],
  ['expired', 'late'],
  ['lost', 'late'],
] as const)('watches a session that is %s in the phase %s', (state, phase) =>
  expect(phaseOf(state)).toBe(phase),
);

describe('planNextReadMs of a brand whose hazards are known', () => {
  /** Hazards at which the interval is `seconds` at every age. */
  const everySeconds = (seconds: number) => Array<number>(OLDEST_HABIT + 1).fill(12.5 / seconds ** 2);
  const learned = (
    phase: Phase,
    ageMs: number,
    sessionMs: number,
    seconds: number,
    stretch = 1,
    random = 0,
  ) =>
    planNextReadMs(
      {
        phase,
        anchorAt: ago(ageMs),
        failures: 0,
        learned: { secondsUntilReads: secondsUntilReads(everySeconds(seconds)), startedAt: ago(sessionMs) },
      },
      NOW,
      SETTINGS,
      stretch,
      random,
    );

  it('follows these hazards, at most 10 % later, and multiplied by the stretch', () => {
    for (const phase of ['awaiting_owner', 'awaiting_installation', 'late'] as const) {
      expect(learned(phase, HOUR, 2 * HOUR, 300)).toBeCloseTo(300_000, 3);
      expect(learned(phase, HOUR, 2 * HOUR, 300, 1, 0.999)).toBeCloseTo(330_000, -2);
      expect(learned(phase, HOUR, 2 * HOUR, 300, 4)).toBeCloseTo(1_200_000, 3);
    }
  });

  it('stays between floor and ceiling of the phase at stretch 1', () => {
    for (const random of [0, 0.999]) {
      expect(learned('late', HOUR, DAY, 0.1, 1, random)).toBeGreaterThanOrEqual(15_000);
      expect(learned('awaiting_owner', HOUR, HOUR, 1e6, 1, random)).toBeLessThanOrEqual(15 * MINUTE);
      expect(learned('late', HOUR, DAY, 1e6, 1, random)).toBeLessThanOrEqual(2 * HOUR);
      expect(learned('late', HOUR, DAY, 1e6, 5, random)).toBeLessThanOrEqual(10 * HOUR);
    }
  });

  it('R41: reads a session that is younger than 10 minutes at the floor', () => {
    for (let ageMs = 0; ageMs < 10 * MINUTE; ageMs += 1_000) {
      expect(learned('awaiting_owner', ageMs, ageMs, 1e6)).toBe(15_000);
      expect(learned('awaiting_installation', ageMs / 3, ageMs, 1e6, 3)).toBe(45_000);
    }
    expect(learned('awaiting_owner', 10 * MINUTE, 10 * MINUTE, 300)).toBeCloseTo(300_000, 3);
  });

  it('does not read an installation at the floor for 10 minutes again', () => {
    expect(learned('awaiting_installation', 0, HOUR, 300)).toBeCloseTo(300_000, 3);
    expect(next('awaiting_installation', 0)).toBe(15_000);
  });

  it('backs off after failures, too', () => {
    const session = { phase: 'late' as const, anchorAt: ago(HOUR), failures: 4 };
    const known = { secondsUntilReads: secondsUntilReads(everySeconds(20)), startedAt: ago(DAY) };
    expect(planNextReadMs({ ...session, learned: known }, NOW, SETTINGS, 1, 0)).toBe(240_000);
  });
});
