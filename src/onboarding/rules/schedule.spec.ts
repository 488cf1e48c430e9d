import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { planNextReadMs } from './schedule.rules.js';
import type { Phase } from './schedule.rules.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = new Date('2026-11-20T12:00:00Z');
const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 15 * MINUTE,
  settleMs: 72 * HOUR,
  lateMs: 7 * DAY,
  endEvidenceMs: 6 * HOUR,
};
const PHASES: readonly Phase[] = [
  'awaiting_owner',
  'awaiting_installation',
  'settling',
  'late',
  'unrecognised',
];

const ago = (ms: number) => new Date(NOW.getTime() - ms);
const next = (phase: Phase, ageMs: number, failures = 0, random = 0) =>
  planNextReadMs({ phase, anchorAt: ago(ageMs), failures }, NOW, SETTINGS, random);

describe('planNextReadMs', () => {
  it('stays between floor and ceiling, whatever the phase, age, failures and chance', () => {
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
          const ms = planNextReadMs({ phase, anchorAt: ago(ageMs), failures }, NOW, settings, random);
          expect(ms).toBeGreaterThanOrEqual(minIntervalMs);
          expect(ms).toBeLessThanOrEqual(minIntervalMs + more);
        },
      ),
    );
  });

  it('reads often while somebody is watching a screen, and rarer with age', () => {
    expect(next('awaiting_owner', 0)).toBe(15_000);
    expect(next('awaiting_owner', 5 * MINUTE)).toBe(15_000);
    expect(next('awaiting_owner', HOUR)).toBe(3 * MINUTE);
    expect(next('awaiting_owner', 5 * HOUR)).toBeGreaterThan(13 * MINUTE);
  });

  it('begins anew when an installation is expected', () => {
    expect(next('awaiting_installation', 0)).toBeLessThan(next('awaiting_owner', 5 * HOUR));
  });

  it('begins slower while settling and after expiry', () => {
    expect(next('settling', 0)).toBe(MINUTE);
    expect(next('late', 0)).toBe(2 * MINUTE);
  });

  it('backs off from failures, and never reads sooner for them', () => {
    const waits = [0, 1, 2, 3, 4].map((failures) => next('awaiting_owner', 0, failures));
    expect(waits).toEqual([15_000, 30_000, 60_000, 120_000, 240_000]);
    expect(next('awaiting_owner', HOUR, 1)).toBe(3 * MINUTE);
  });

  it('R27: spreads sessions that were read together', () => {
    expect(next('awaiting_owner', 0, 0, 0.5)).not.toBe(next('awaiting_owner', 0, 0, 0.6));
    expect(next('late', 30 * DAY, 0, 0.5)).not.toBe(next('late', 30 * DAY, 0, 0.6));
  });
});
