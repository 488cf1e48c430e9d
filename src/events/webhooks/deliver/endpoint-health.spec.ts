import { describe, expect, it } from '@jest/globals';
import { placesOf, planHealth, type Health } from './endpoint-health.rules.js';
import type { SendOutcome } from '../send/outcome.rules.js';

const NOW = new Date('2026-11-20T10:00:00Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const WELL: Health = { failures: 0, failingSince: null, quietUntil: null };
const delivered: SendOutcome = { kind: 'delivered', status: 200, answer: null };
const failed: SendOutcome = { kind: 'failed', status: 500, error: '', answer: null, retryAfterMs: null };
const gone: SendOutcome = { kind: 'gone', status: 410, error: '', answer: null, retryAfterMs: null };
const times = (count: number, outcome: SendOutcome) => Array.from({ length: count }, () => outcome);
const quietMs = ({ quietUntil }: Health) => quietUntil && quietUntil.getTime() - NOW.getTime();

describe('the health of a webhook endpoint', () => {
  it('counts failures in a row, and since when', () => {
    const plan = planHealth(WELL, times(3, failed), NOW);
    expect(plan).toMatchObject({ failures: 3, failingSince: NOW, quietUntil: null, disable: null });
    expect(placesOf(plan)).toBe(16);
    expect(planHealth(plan, [failed], NOW)).toMatchObject({ failures: 4, failingSince: NOW });
  });

  it('forgets them with the first delivery', () => {
    const failing = { failures: 9, failingSince: ago(MINUTE), quietUntil: null };
    expect(planHealth(failing, [failed, delivered], NOW)).toMatchObject(WELL);
    expect(planHealth(failing, [delivered, failed], NOW)).toMatchObject({ failures: 1, failingSince: NOW });
  });

  it.each([
    [0, 1_000],
    [MINUTE, 15_000],
    [20 * MINUTE, 5 * MINUTE],
    [DAY, 5 * MINUTE],
  ])(
    'leaves one that has been failing for %i ms alone for %i ms, then tries it with one request',
    (sinceMs, expected) => {
      const plan = planHealth({ failures: 9, failingSince: ago(sinceMs), quietUntil: null }, [failed], NOW);
      expect(quietMs(plan)).toBe(expected);
      expect(placesOf(plan)).toBe(1);
    },
  );

  it('does not take failures of one moment for a long time of failing', () => {
    expect(quietMs(planHealth(WELL, times(16, failed), NOW))).toBe(1_000);
  });

  it('says that one takes events again after it failed', () => {
    const failing = { failures: 12, failingSince: ago(MINUTE), quietUntil: ago(-1) };
    expect(planHealth(failing, [delivered], NOW)).toMatchObject({ ...WELL, recoveredFrom: failing.failures });
    expect(planHealth(WELL, [failed, delivered], NOW).recoveredFrom).toBe(1);
    expect(planHealth(WELL, [delivered, failed], NOW).recoveredFrom).toBe(0);
  });

  it('is quiet for as long as the receiver asks', () => {
    const asked: SendOutcome = { ...failed, retryAfterMs: 30_000 };
    expect(quietMs(planHealth(WELL, [asked], NOW))).toBe(30_000);
    expect(quietMs(planHealth(WELL, [asked, failed], NOW))).toBe(30_000);
    expect(quietMs(planHealth(WELL, [asked, delivered], NOW))).toBe(30_000);
  });

  it('ends with a 410', () => {
    expect(planHealth(WELL, [gone], NOW).disable).toEqual({ reason: 'gone', since: NOW });
  });

  it.each([
    { days: 5, failures: 19, is: 'disabled' },
    { days: 4.9, failures: 500, is: 'left on' },
    // A rarely used endpoint: few failures, but for more than 5 days.
    { days: 6, failures: 18, is: 'left on' },
  ])('after $days days and $failures failures before this one it is $is', ({ days, failures, is }) => {
    const failingSince = ago(days * DAY);
    const { disable } = planHealth({ failures, failingSince, quietUntil: null }, [failed], NOW);
    expect(disable).toEqual(is === 'disabled' ? { reason: 'failing', since: failingSince } : null);
  });
});
