import { describe, expect, it } from '@jest/globals';
import { placesOf, planHealth, type Health } from './endpoint-health.rules.js';
import type { SendOutcome } from '../../delivery/delivery-plan.rules.js';

const NOW = new Date('2026-11-20T10:00:00Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const WELL: Health = { failures: 0, failingSince: null, isReported: false, quietUntil: null };
const delivered: SendOutcome = { kind: 'delivered' };
const failed: SendOutcome = { kind: 'failed' };
const gone: SendOutcome = { kind: 'gone' };
const times = (count: number, outcome: SendOutcome) => Array.from({ length: count }, () => outcome);
const quietMs = ({ quietUntil }: Health) => quietUntil && quietUntil.getTime() - NOW.getTime();

describe('the health of a webhook endpoint', () => {
  it('counts consecutive failures and records when they began', () => {
    const plan = planHealth(WELL, times(3, failed), NOW);
    expect(plan).toMatchObject({ failures: 3, failingSince: NOW, quietUntil: null, disable: null });
    expect(placesOf(plan)).toBe(16);
    expect(planHealth(plan, [failed], NOW)).toMatchObject({ failures: 4, failingSince: NOW });
  });

  it('is reset by a delivery', () => {
    const failing = { ...WELL, failures: 9, failingSince: ago(MINUTE) };
    expect(planHealth(failing, [failed, delivered], NOW)).toMatchObject(WELL);
    expect(planHealth(failing, [delivered, failed], NOW)).toMatchObject({ failures: 1, failingSince: NOW });
  });

  it.each([
    [0, 1_000],
    [MINUTE, 15_000],
    [20 * MINUTE, 5 * MINUTE],
    [DAY, 5 * MINUTE],
  ])(
    'that has failed for %i ms has a quiet period of %i ms, and then one request at a time',
    (sinceMs, expected) => {
      const plan = planHealth({ ...WELL, failures: 9, failingSince: ago(sinceMs) }, [failed], NOW);
      expect(quietMs(plan)).toBe(expected);
      expect(placesOf(plan)).toBe(1);
    },
  );

  it('has no quiet period after nine failures', () => {
    const plan = planHealth({ ...WELL, failures: 8, failingSince: ago(DAY) }, [failed], NOW);
    expect([quietMs(plan), placesOf(plan)]).toEqual([null, 16]);
  });

  it('keeps the longer of two quiet periods', () => {
    const quiet = { ...WELL, quietUntil: ago(-60_000) };
    expect(quietMs(planHealth(quiet, [{ ...failed, retryAfterMs: 30_000 }], NOW))).toBe(60_000);
    expect(quietMs(planHealth(quiet, [{ ...failed, retryAfterMs: 90_000 }], NOW))).toBe(90_000);
    expect(quietMs(planHealth(quiet, [failed], NOW))).toBe(60_000);
    expect(quietMs(planHealth(quiet, [{ ...delivered, retryAfterMs: 0 }], NOW))).toBeNull();
  });

  it('has the shortest quiet period after many failures at once', () => {
    expect(quietMs(planHealth(WELL, times(16, failed), NOW))).toBe(1_000);
  });

  it.each([
    ['one failure', [failed], WELL, false],
    ['a second failure at once', [failed], { ...WELL, failures: 1, failingSince: ago(100) }, false],
    ['a second failure within 3 s', [failed], { ...WELL, failures: 1, failingSince: ago(2_999) }, false],
    ['a second failure after 3 s', [failed], { ...WELL, failures: 1, failingSince: ago(3_000) }, true],
    ['one failure long ago', [], { ...WELL, failures: 1, failingSince: ago(DAY) }, false],
    ['a failure after the report', [failed], { ...WELL, isReported: true }, true],
    ['failures between successes', [failed, failed, delivered, failed, failed], WELL, false],
    ['a success', [delivered], { ...WELL, failures: 3, failingSince: ago(MINUTE), isReported: true }, false],
  ])('is reported only after failing for a while: %s', (_case, outcomes, before, isReported) => {
    expect(planHealth(before, outcomes, NOW)).toMatchObject({ isReported });
  });

  it('returns how many failures a delivery has ended', () => {
    const failing = { ...WELL, failures: 12, failingSince: ago(MINUTE), quietUntil: ago(-1) };
    expect(planHealth(failing, [delivered], NOW)).toMatchObject({ ...WELL, recoveredFrom: failing.failures });
    expect(planHealth(WELL, [failed, delivered], NOW).recoveredFrom).toBe(1);
    expect(planHealth(WELL, [delivered, failed], NOW).recoveredFrom).toBe(0);
  });

  it('has the quiet period that the receiver requests', () => {
    const asked: SendOutcome = { ...failed, retryAfterMs: 30_000 };
    expect(quietMs(planHealth(WELL, [asked], NOW))).toBe(30_000);
    expect(quietMs(planHealth(WELL, [asked, failed], NOW))).toBe(30_000);
    expect(quietMs(planHealth(WELL, [asked, delivered], NOW))).toBe(30_000);
  });

  it('disables the endpoint after a 410', () => {
    expect(planHealth(WELL, [gone], NOW).disable).toEqual({ reason: 'gone', since: NOW });
    expect(planHealth(WELL, [gone, delivered, failed], NOW).disable).toEqual({ reason: 'gone', since: NOW });
    expect(planHealth({ ...WELL, failures: 1, failingSince: ago(DAY) }, [gone], NOW).disable).toEqual({
      reason: 'gone',
      since: ago(DAY),
    });
  });

  it.each([
    { days: 5, failures: 19, is: 'disabled' },
    { days: 5 - 1 / DAY, failures: 500, is: 'enabled' },
    // A rarely used endpoint: few failures, but for more than 5 days.
    { days: 6, failures: 18, is: 'enabled' },
  ])(
    'leaves the endpoint $is after $days days and $failures failures before this one',
    ({ days, failures, is }) => {
      const failingSince = ago(days * DAY);
      const { disable } = planHealth({ ...WELL, failures, failingSince }, [failed], NOW);
      expect(disable).toEqual(is === 'disabled' ? { reason: 'failing', since: failingSince } : null);
    },
  );
});
