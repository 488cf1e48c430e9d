import { describe, expect, it } from '@jest/globals';
import { findEnd } from './ending.rules.js';
import type { Phase } from './schedule.rules.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date('2026-11-20T12:00:00Z');
const SETTINGS = {
  minIntervalMs: 15_000,
  maxIntervalMs: 900_000,
  settleMs: 72 * HOUR,
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
    ['settling', 71 * HOUR, 30 * DAY, null],
    ['settling', 72 * HOUR, 0, 'settled'],
    ['late', 6 * DAY, 30 * DAY, null],
    ['late', 7 * DAY, 7 * DAY, 'late_window_over'],
    ['awaiting_owner', 30 * DAY, 6 * DAY, null],
    ['awaiting_owner', 30 * DAY, 7 * DAY, 'late_window_over'],
    ['awaiting_installation', 0, 7 * DAY, 'late_window_over'],
    ['unrecognised', 0, -DAY, null],
  ] as const)(
    'in phase %s, begun %d ms ago, expired %d ms ago: %s',
    (phase, anchorAgoMs, expiresAgoMs, reason) => {
      expect(find(phase, anchorAgoMs, expiresAgoMs)).toBe(reason);
    },
  );
});
