import { describe, expect, it } from '@jest/globals';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { stalledSession, type AwaitedSession } from './stalled.rules.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const STARTED = new Date('2026-03-01T00:00:00Z');
const after = (ms: number) => new Date(STARTED.getTime() + ms);
const THRESHOLDS = { ownerMs: 4 * HOUR_MS, installationMs: 72 * HOUR_MS, usualWait: undefined };

/** A session of one day, read with success until now. */
const session: AwaitedSession = {
  state: 'awaiting_owner',
  stateChangedAt: STARTED,
  recordedAt: STARTED,
  expiresAt: after(24 * HOUR_MS),
  finished: false,
  active: true,
  expired: false,
  failingSince: after(1_000 * HOUR_MS),
  failures: 0,
  isOver: false,
};
const done = { ...session, state: 'awaiting_installation', stateChangedAt: after(HOUR_MS) } as const;
const odd = { ...session, state: 'unrecognised', finished: true } as const;
const unread = { failingSince: after(HOUR_MS), failures: 3 };
const stalled = (given: AwaitedSession, ms: number, thresholds = {}) =>
  stalledSession(given, { ...THRESHOLDS, ...thresholds }, after(ms));

describe('a session is stalled', () => {
  it('once its owner has not completed the web flow for the configured age', () => {
    expect(stalled(session, 4 * HOUR_MS - 1)).toBeNull();
    expect(stalled(session, 4 * HOUR_MS)).toEqual({
      cause: 'started_not_completed',
      since: STARTED,
      evidence: { thresholdSeconds: 14_400 },
    });
  });

  it('in the last tenth of its life, while its owner can still complete it, and at most in its last week', () => {
    expect(stalled(session, 21.6 * HOUR_MS - 1)?.cause).toBe('started_not_completed');
    expect(stalled(session, 21.6 * HOUR_MS)).toEqual({
      cause: 'expiring_soon',
      since: after(21.6 * HOUR_MS),
      evidence: { expiresAt: '2026-03-02T00:00:00.000Z' },
    });
    const long = { ...session, expiresAt: after(1_000 * 24 * HOUR_MS) };
    expect(stalled(long, (993 * 24 - 1) * HOUR_MS)?.cause).toBe('started_not_completed');
    expect(stalled(long, 993 * 24 * HOUR_MS)?.cause).toBe('expiring_soon');
  });

  it('not because of an expiresAt that had passed when it started', () => {
    expect(stalled({ ...session, expiresAt: STARTED }, HOUR_MS)).toBeNull();
  });

  it('once it has not come online for the configured age, if the usual wait of its brand is not known', () => {
    expect(stalled(done, 73 * HOUR_MS - 1)).toBeNull();
    expect(stalled(done, 73 * HOUR_MS)).toEqual({
      cause: 'completed_not_online',
      since: after(HOUR_MS),
      evidence: { thresholdSeconds: 259_200, thresholdFrom: 'configured', known: null },
    });
  });

  it('beyond the 95th percentile of its brand, shorter or longer than the configured age', () => {
    const usualWait = (p95Seconds: number) => ({ usualWait: { p50Seconds: 60, p95Seconds, known: 20 } });
    expect(stalled(done, HOUR_MS + 899_999, usualWait(900))).toBeNull();
    expect(stalled(done, HOUR_MS + 900_000, usualWait(900))).toMatchObject({
      cause: 'completed_not_online',
      evidence: { thresholdSeconds: 900, thresholdFrom: 'brand_p95', known: 20 },
    });
    expect(stalled(done, 99 * HOUR_MS, usualWait(100 * 3_600))).toBeNull();
  });

  it('once three reads of it have failed, and an hour has passed since the first of them', () => {
    expect(stalled({ ...done, ...unread }, 2 * HOUR_MS - 1)).toBeNull();
    expect(stalled({ ...done, ...unread, failures: 2 }, 9 * HOUR_MS)).toBeNull();
    expect(stalled({ ...done, ...unread }, 2 * HOUR_MS)).toEqual({
      cause: 'remote_unreachable',
      since: after(HOUR_MS),
      evidence: { failures: 3, thresholdSeconds: 3_600 },
    });
  });

  it('once its flags have not been recognised for a quarter of an hour', () => {
    expect(stalled(odd, 15 * MINUTE_MS - 1)).toBeNull();
    expect(stalled(odd, 15 * MINUTE_MS)).toEqual({
      cause: 'unrecognised',
      since: STARTED,
      evidence: { finished: true, active: true, expired: false, thresholdSeconds: 900 },
    });
  });

  it.each<[cause: string, given: AwaitedSession, ms: number]>([
    ['unrecognised', { ...odd, ...unread }, 100 * HOUR_MS],
    ['remote_unreachable', { ...odd, stateChangedAt: after(2 * HOUR_MS), ...unread }, 2 * HOUR_MS],
    ['remote_unreachable', { ...done, ...unread }, 100 * HOUR_MS],
    ['remote_unreachable', { ...session, ...unread }, 23 * HOUR_MS],
    ['completed_not_online', done, 100 * HOUR_MS],
    ['expiring_soon', session, 23 * HOUR_MS],
  ])('for %s, if several causes hold', (cause, given, ms) => {
    expect(stalled(given, ms)?.cause).toBe(cause);
  });

  it('never once somebody need not wait for it', () => {
    const states = SESSION_STATES.filter(
      (state) => stalled({ ...session, ...unread, state }, 1_000 * HOUR_MS) !== null,
    );
    expect(states).toEqual(['awaiting_owner', 'awaiting_installation', 'unrecognised']);
    for (const state of states) {
      const over = { ...session, ...unread, state, isOver: true };
      expect(stalled(over, 1_000 * HOUR_MS)).toBeNull();
    }
  });
});
