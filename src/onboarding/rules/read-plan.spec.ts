import { describe, expect, it } from '@jest/globals';
import { NOT_FOUND, REFUSED } from './lost.rules.js';
import { planRead, planUnsavable } from './read-plan.rules.js';
import type { ReadSession, SessionRead } from './read-plan.rules.js';

const NOW = new Date('2026-11-20T11:00:00Z');
const SETTINGS = {
  minIntervalMs: 1_000,
  maxIntervalMs: 900_000,
  settleMs: 1_000_000,
  watchMs: 0,
  lateMs: 1_000_000,
  endEvidenceMs: 1_000_000,
};
const POLL: ReadSession = {
  phase: 'awaiting_owner',
  anchorAt: NOW,
  failures: 0,
  notFound: 0,
  notFoundSince: null,
  olderSince: null,
  expiresAt: NOW,
  recordedAt: NOW,
  factsHash: 'facts',
  now: NOW,
  stretch: 1,
  dueAt: '2026-11-20 10:59:00+00',
};
const RESPONSE = { httpStatus: 200, body: '{}', hash: '00', factsHash: 'facts' };
const plan = (read: SessionRead, poll: Partial<ReadSession> = {}, now = NOW) =>
  planRead({ ...POLL, ...poll, now }, read, SETTINGS, 0);

describe('planRead', () => {
  it('writes nothing for an unchanged response', () => {
    expect(plan({ kind: 'unchanged' })).toEqual({ kind: 'nothing' });
  });

  it('writes the end of a series of failures or of older responses, and the end of the watch, even after an unchanged response', () => {
    const unchanged = { kind: 'apply', reading: { kind: 'unchanged' } };
    expect(plan({ kind: 'unchanged' }, { failures: 1 })).toEqual(unchanged);
    expect(plan({ kind: 'unchanged' }, { notFound: 1 })).toEqual(unchanged);
    expect(plan({ kind: 'unchanged' }, { olderSince: NOW })).toEqual(unchanged);
    expect(plan({ kind: 'unchanged' }, { lookAgainAt: NOW })).toEqual(unchanged);
    const later = new Date(NOW.getTime() + 1);
    expect(plan({ kind: 'unchanged' }, { lookAgainAt: later })).toEqual({ kind: 'nothing' });
    expect(plan({ kind: 'unchanged' }, {}, new Date(NOW.getTime() + SETTINGS.lateMs))).toEqual(unchanged);
  });

  it('R66: treats the same facts in other bytes as unchanged', () => {
    const observation = {
      finished: false,
      active: true,
      expired: false,
      createdAt: NOW,
      updatedAt: NOW,
      expiresAt: NOW,
      inverters: [],
    };
    const read: SessionRead = { kind: 'observed', observation, response: RESPONSE };
    expect(plan(read)).toEqual({ kind: 'nothing' });
    expect(plan(read, { factsHash: 'others' })).toEqual({ kind: 'apply', reading: read });
  });

  const sinceIntervals = (intervals: number) => new Date(NOW.getTime() - intervals * SETTINGS.minIntervalMs);

  it('R81: accepts that a session is gone only after several reads over eight minutes, each among reads of others', () => {
    const own: SessionRead = { kind: 'not_found', status: 404, isOwn: true };
    const since = sinceIntervals(NOT_FOUND.intervals);
    const last = { failures: 9, notFound: NOT_FOUND.reads - 1, notFoundSince: since };
    expect(NOT_FOUND.intervals * 15).toBe(8 * 60);
    expect(plan(own)).toMatchObject({ kind: 'postpone', failures: 1, notFound: 1, notFoundSince: NOW });
    expect(plan(own, last)).toEqual({ kind: 'apply', reading: { kind: 'gone', status: 404 } });
    expect(plan(own, { ...last, notFound: NOT_FOUND.reads - 2 })).toMatchObject({
      kind: 'postpone',
      notFound: NOT_FOUND.reads - 1,
      notFoundSince: since,
    });
    expect(plan({ ...own, isOwn: false }, last)).toMatchObject({
      kind: 'postpone',
      notFound: NOT_FOUND.reads - 1,
      notFoundSince: since,
    });
  });

  it('R81: reads a session again when the eight minutes end, however often it was read within them', () => {
    const own: SessionRead = { kind: 'not_found', status: 404, isOwn: true };
    const often = { failures: 900, notFound: 32_767 };
    const early = sinceIntervals(NOT_FOUND.intervals - 3);
    expect(plan(own, { ...often, notFoundSince: early })).toMatchObject({
      kind: 'postpone',
      notFound: 1_000,
      retryMs: 3 * SETTINGS.minIntervalMs,
    });
    const late = sinceIntervals(NOT_FOUND.intervals);
    expect(plan(own, { ...often, notFoundSince: late })).toMatchObject({ kind: 'apply' });
  });

  it('accepts a refusal as the end of a session only after more reads, each among reads of others', () => {
    const own: SessionRead = { kind: 'refused', status: 403, isOwn: true };
    const error = 'refused with status 403 on every path';
    expect(plan(own)).toMatchObject({ kind: 'postpone', failures: 1, notFound: 1, error });
    const notFoundSince = sinceIntervals(REFUSED.intervals);
    const last = { failures: 20, notFound: REFUSED.reads - 1, notFoundSince };
    expect(plan(own, { ...last, notFound: REFUSED.reads - 2 })).toMatchObject({ kind: 'postpone' });
    expect(plan(own, { ...last, notFoundSince: sinceIntervals(REFUSED.intervals - 1) })).toMatchObject({
      kind: 'postpone',
    });
    expect(plan(own, last)).toEqual({ kind: 'apply', reading: { kind: 'gone', status: 403 } });
    expect(plan({ ...own, isOwn: false }, last)).toMatchObject({
      kind: 'postpone',
      failures: 21,
      notFound: REFUSED.reads - 1,
    });
  });

  it('counts a failure, and waits as long as the remote service requested', () => {
    expect(plan({ kind: 'failed', error: 'reset' }, { failures: 2, notFound: 1 })).toMatchObject({
      kind: 'postpone',
      failures: 3,
      notFound: 1,
      error: 'reset',
      retryMs: 8_000,
    });
    expect(plan({ kind: 'failed', error: 'busy', retryAfterMs: 60_000 })).toMatchObject({ retryMs: 60_000 });
  });

  it('does not count a read that was not sent as a failure', () => {
    expect(
      plan({ kind: 'not_sent', reason: 'breaker_open', retryAfterMs: 5_000 }, { failures: 2 }),
    ).toMatchObject({ failures: 2, notFound: 0, retryMs: 5_000 });
    expect(plan({ kind: 'not_sent', reason: 'breaker_open', retryAfterMs: 1 })).toMatchObject({
      retryMs: SETTINGS.minIntervalMs,
    });
  });
});

describe('planUnsavable', () => {
  it('counts one more failure, says nothing of a lost session, and waits a quarter of an hour', () => {
    expect(planUnsavable('22P05')).toEqual({
      kind: 'postpone',
      failures: null,
      notFound: 0,
      notFoundSince: null,
      error: 'the response cannot be saved (SQLSTATE 22P05)',
      retryMs: 900_000,
    });
  });
});
