import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../stalls/cause.rules.js';
import { later } from '../../stalls/look.rules.js';
import { INVERTER_CAUSES, stallOfInverter } from '../../inverters/inverter.stall.rules.js';
import { START_CAUSES, stallOfStart, type StartFacts } from './start.stall.rules.js';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ago = (ms: number) => later(NOW, -ms);
const FAILED: StartFacts = {
  status: 'failed',
  createdAt: ago(HOUR_MS),
  updatedAt: ago(HOUR_MS),
  attempts: 3,
  orphans: 1,
  lastError: 'HTTP 400',
  isReplaced: false,
};
const failed = (since: Date) => ({
  cause: 'start_failed',
  since,
  evidence: { attempts: 3, lastAttemptAt: since.toISOString(), orphans: 1, lastError: 'HTTP 400' },
});

describe('a start is stalled', () => {
  it.each<[string, Partial<StartFacts>, object | null, Date | null]>([
    ['once it has failed', {}, failed(ago(HOUR_MS)), later(NOW, HOUR_MS)],
    ['not once another has taken its place', { isReplaced: true }, null, null],
    ['not while it is sent', { status: 'sending' }, null, null],
    ['not once it has a session', { status: 'started' }, null, null],
    ['almost a month', { updatedAt: ago(30 * DAY_MS - 5) }, failed(ago(30 * DAY_MS - 5)), later(NOW, 5)],
    ['not for over a month', { updatedAt: ago(30 * DAY_MS) }, null, null],
  ])('%s', (_, facts, stall, lookAgainAt) => {
    expect(stallOfStart({ ...FAILED, ...facts }, NOW)).toEqual({ stall, lookAgainAt });
  });

  it('and says why, and starts the same brand again', () => {
    const { start_failed: cause } = START_CAUSES;
    expect(textOf(cause, { lastError: 'HTTP 400' })).toBe('The start failed: HTTP 400.');
    expect(textOf(cause, { lastError: null })).toBe('The start failed.');
    const [again] = cause.remedies;
    expect(again!.body!({ id: 'start', brand: 'sunward' })).toEqual({ brand: 'sunward' });
    expect(again!.body!({ id: 'start', brand: null })).toEqual({});
  });
});

describe('an inverter is stalled', () => {
  it.each<[string, Date | null, object | null]>([
    [
      'once five customers have it',
      ago(HOUR_MS),
      { cause: 'shared', since: ago(HOUR_MS), evidence: { customers: 5 } },
    ],
    ['not before', null, null],
  ])('%s', (_, sharedSince, stall) => {
    expect(stallOfInverter({ customers: 5, sharedSince }, NOW)).toEqual({ stall, lookAgainAt: null });
  });

  it('and says how many', () => {
    expect(textOf(INVERTER_CAUSES.shared, { customers: 7 })).toContain('for 7 customers at once');
  });
});
