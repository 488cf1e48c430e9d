import { describe, expect, it } from '@jest/globals';
import { findEnd, weighEnd } from './ending.rules.js';
import type { Phase } from './schedule.rules.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date('2026-11-20T12:00:00Z');
const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 72 * HOUR,
  watchMs: 0,
  lateMs: 7 * DAY,
  endEvidenceMs: 6 * HOUR,
};
const ago = (ms: number) => new Date(NOW.getTime() - ms);

describe('findEnd', () => {
  const find = (phase: Phase, anchorAgoMs: number, expiresAgoMs: number) =>
    findEnd(
      { phase, anchorAt: ago(anchorAgoMs), expiresAt: ago(expiresAgoMs), recordedAt: ago(30 * DAY) },
      NOW,
      SETTINGS,
    );

  it.each([
    ['a year after the start', 400 * DAY, -365 * DAY, 'late_window_over'],
    ['within a year after the start', 371 * DAY, -365 * DAY, null],
    ['not before its start', 6 * DAY, 400 * DAY, null],
    ['a week after its start', 7 * DAY, 400 * DAY, 'late_window_over'],
  ])('believes that a session ends %s', (_, startedAgoMs, expiresAgoMs, reason) => {
    const times = { anchorAt: NOW, expiresAt: ago(expiresAgoMs), recordedAt: ago(startedAgoMs) };
    expect(findEnd({ phase: 'awaiting_owner', ...times }, NOW, SETTINGS)).toBe(reason);
  });

  it.each([
    ['settling', 71 * HOUR, 30 * DAY, null],
    ['settling', 72 * HOUR, 0, 'settled'],
    ['late', 6 * DAY, 30 * DAY, null],
    ['late', 7 * DAY, 7 * DAY, 'late_window_over'],
    ['awaiting_owner', 30 * DAY, 6 * DAY, null],
    ['awaiting_owner', 30 * DAY, 7 * DAY, 'late_window_over'],
    ['awaiting_installation', 0, 7 * DAY, 'late_window_over'],
    ['unrecognised', 0, -DAY, null],
    ['watching', 400 * DAY, 400 * DAY, 'settled'],
  ] as const)(
    'in phase %s, begun %d ms ago, expired %d ms ago: %s',
    (phase, anchorAgoMs, expiresAgoMs, reason) => {
      expect(find(phase, anchorAgoMs, expiresAgoMs)).toBe(reason);
    },
  );
});

it('ends no watch of a settled session while WATCH_ONLINE_DAYS is above 0', () => {
  const times = { anchorAt: ago(400 * DAY), expiresAt: ago(400 * DAY), recordedAt: ago(401 * DAY) };
  expect(findEnd({ phase: 'watching', ...times }, NOW, { ...SETTINGS, watchMs: DAY })).toBeNull();
});

describe('weighEnd', () => {
  const NONE = { endingSince: null, endingReads: 0 };
  const since = (hours: number, endingReads: number) => ({ endingSince: ago(hours * HOUR), endingReads });

  it.each([
    ['time has passed', 'settled', false, NONE, 'settled', NONE],
    ['a first reason of the remote service', 'lost', true, NONE, null, { endingSince: NOW, endingReads: 1 }],
    ['four reasons, for long', 'lost', true, since(7, 3), null, since(7, 4)],
    ['five reasons, too soon', 'lost', true, since(5, 4), null, since(5, 5)],
    ['five reasons, for long enough', 'lost', true, since(6, 4), 'lost', NONE],
    ['elapsed time after other reasons', 'settled', false, since(1, 1), null, since(1, 2)],
    ['a good read after four reasons: five are needed again', null, false, since(7, 4), null, NONE],
  ] as const)('%s', (_, reason, mustLast, before, close, evidence) => {
    expect(weighEnd(reason, mustLast, before, NOW, SETTINGS)).toEqual({ close, evidence });
  });
});
