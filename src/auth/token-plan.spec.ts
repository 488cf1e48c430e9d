import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { coolDownMs, planFailure, planToken, renewAfterMs, type TokenRow } from './token-plan.rules.js';

const now = new Date('2026-11-20T10:00:00Z');
const inMs = (ms: number): Date => new Date(now.getTime() + ms);

const VALID: TokenRow = {
  now,
  generation: 1,
  isLeased: false,
  isOurs: true,
  token: 'token',
  obtainedAt: inMs(-10_000),
  renewAt: inMs(8_000),
  expiresAt: inMs(10_000),
  rejectedAt: null,
  failures: 0,
  nextAttemptAt: null,
  refusedOperations: [],
};
const leased = (row: TokenRow): TokenRow => ({ ...row, isLeased: true });
const EXPIRED = { ...VALID, renewAt: inMs(-2_000), expiresAt: inMs(-1) };
const DUE = { ...VALID, renewAt: now };
const FOREIGN = { ...VALID, isOurs: false, token: null, obtainedAt: null, renewAt: null, expiresAt: null };
/** A trial has failed. */
const REJECTED = { ...VALID, rejectedAt: now, failures: 1 };
/** A trial by a read has failed, and one by another call has succeeded. */
const ALONE: TokenRow = {
  ...VALID,
  expiresAt: inMs(600_000),
  renewAt: inMs(500_000),
  refusedOperations: ['read_session'],
};
/** A trial by a read has failed, and the next is due. */
const READ_REFUSED: TokenRow = {
  ...REJECTED,
  refusedOperations: ['read_session'],
  nextAttemptAt: inMs(-2_999),
};

const USE = { kind: 'use' };
const WAIT = { kind: 'wait' };
const RENEW = { kind: 'claim', isTrial: false, withStored: false, mayReplace: false };
const TRY_NEW = { ...RENEW, isTrial: true };
const refuse = (reason: string, retryAfterMs: number) => ({ kind: 'refuse', reason, retryAfterMs });
const NOT_NOW = refuse('token_unavailable', 0);

const KNOWS = { refusedGeneration: -1, rejectedForMs: 0, purpose: 'read_session' as const };
const HAS_REFUSED = { ...KNOWS, refusedGeneration: 1 };
const EARLY = { ...KNOWS, purpose: 'renewal' as const };
const PROBE = { ...KNOWS, purpose: 'probe' as const };
const OTHER = { ...KNOWS, purpose: 'register_user' as const };

describe('planToken', () => {
  it.each<[string, TokenRow, object, Parameters<typeof planToken>[1]?]>([
    ['valid', VALID, USE],
    ['valid, not due for renewal', VALID, USE, EARLY],
    ['valid, due for renewal, during a call', DUE, USE],
    ['valid, due for renewal', DUE, RENEW, EARLY],
    ['valid, being renewed', leased(DUE), USE, EARLY],
    ['valid, last renewal failed', { ...DUE, failures: 1, nextAttemptAt: inMs(500) }, USE, EARLY],
    ['none yet', FOREIGN, RENEW],
    ['none yet, being obtained', leased(FOREIGN), WAIT],
    [
      'of other credentials, after ours were rejected',
      FOREIGN,
      refuse('credentials_rejected', 3),
      { ...KNOWS, rejectedForMs: 2.5 },
    ],
    ['of other credentials, with an old generation', FOREIGN, RENEW, HAS_REFUSED],
    ['expired', EXPIRED, RENEW],
    ['expired this very moment', { ...VALID, expiresAt: now }, RENEW],
    ['without a text', { ...VALID, token: null }, RENEW],
    ['expired, being renewed', leased(EXPIRED), WAIT],
    [
      'expired, last attempt failed',
      { ...EXPIRED, failures: 1, nextAttemptAt: inMs(500) },
      refuse('token_unavailable', 500),
    ],
    ['expired, last attempt failed long ago', { ...EXPIRED, failures: 1, nextAttemptAt: inMs(-1) }, RENEW],
    ['refused once', VALID, TRY_NEW, HAS_REFUSED],
    ['refused once, even if it is young', { ...VALID, obtainedAt: now }, TRY_NEW, HAS_REFUSED],
    ['newer than the refused one', { ...VALID, generation: 2 }, USE, HAS_REFUSED],
    ['refused once, trial in progress', leased({ ...VALID, rejectedAt: now }), WAIT, HAS_REFUSED],
    [
      'refused once, trial without a result',
      { ...VALID, rejectedAt: now, nextAttemptAt: inMs(5) },
      refuse('token_unavailable', 5),
    ],
    ['refused again', { ...REJECTED, nextAttemptAt: inMs(900) }, refuse('credentials_rejected', 900)],
    ['refused again, cooled down', REJECTED, { ...TRY_NEW, withStored: true, mayReplace: true }],
    [
      'refused again, cooled down, no longer young',
      { ...REJECTED, obtainedAt: inMs(-5_000) },
      { ...TRY_NEW, withStored: true, mayReplace: true },
    ],
    [
      'refused again, cooled down, young',
      { ...REJECTED, obtainedAt: inMs(-4_999) },
      { ...TRY_NEW, withStored: true },
    ],
    ['refused again, cooled down, young, probed', { ...REJECTED, obtainedAt: now }, TRY_NEW, PROBE],
    ['refused again, cooled down, due for renewal', { ...REJECTED, renewAt: now }, NOT_NOW, EARLY],
    [
      'refused again, trial in progress, due for renewal',
      leased({ ...REJECTED, renewAt: now }),
      NOT_NOW,
      EARLY,
    ],
    ['valid, due for renewal, probed', DUE, RENEW, PROBE],
    ['refused again, cooled down, trial in progress', leased(REJECTED), WAIT],
    ['refused for this class alone', ALONE, USE, HAS_REFUSED],
    [
      'refused for another class alone, then for this one',
      ALONE,
      TRY_NEW,
      { ...OTHER, refusedGeneration: 1 },
    ],
    ['refused for a class alone, not yet for 5 min', { ...ALONE, obtainedAt: inMs(-299_999) }, USE, EARLY],
    ['refused for a class alone for 5 min', { ...ALONE, obtainedAt: inMs(-300_000) }, RENEW, EARLY],
    [
      'refused for a class alone for 5 min, after a refusal of it',
      { ...ALONE, obtainedAt: inMs(-300_000) },
      RENEW,
      { ...EARLY, refusedGeneration: 1 },
    ],
    ['refused for a class alone for 5 min, during a call', { ...ALONE, obtainedAt: inMs(-300_000) }, USE],
    [
      'refused for none, of 5 min',
      { ...ALONE, obtainedAt: inMs(-300_000), refusedOperations: [] },
      USE,
      EARLY,
    ],
    ['refused by a read, due, for a read', READ_REFUSED, refuse('credentials_rejected', 1)],
    [
      'refused by a read, due for 3 s, for a read',
      { ...READ_REFUSED, nextAttemptAt: inMs(-3_000) },
      { ...TRY_NEW, withStored: true, mayReplace: true },
    ],
    [
      'refused by a read, due, for another call',
      READ_REFUSED,
      { ...TRY_NEW, withStored: true, mayReplace: true },
      OTHER,
    ],
    [
      'refused by a read, then by another call, due, for a read',
      { ...READ_REFUSED, refusedOperations: ['read_session', 'register_user'] },
      refuse('credentials_rejected', 1),
    ],
    [
      'refused by a read, probed, for a read',
      { ...READ_REFUSED, nextAttemptAt: null },
      { ...TRY_NEW, withStored: true, mayReplace: true },
    ],
    [
      'refused by a read, for a read with the refused one',
      { ...READ_REFUSED, nextAttemptAt: null },
      TRY_NEW,
      HAS_REFUSED,
    ],
  ])('%s', (_, row, plan, memory: Parameters<typeof planToken>[1] = KNOWS) =>
    expect(planToken(row, memory)).toEqual(plan),
  );
});

describe('waits', () => {
  it('are short after the first refusal and then double from 5 s to 5 min', () =>
    expect([1, 2, 3, 4, 8, 9, 100].map(coolDownMs)).toEqual([
      1_000, 5_000, 10_000, 20_000, 300_000, 300_000, 300_000,
    ]));

  it('double from 1 s to 1 min after a failure, less up to half', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, random) => {
        const { waitMs } = planFailure({ kind: 'ambiguous', reason: 'lost' }, failures, random);
        const full = Math.min(1_000 * 2 ** failures, 60_000);
        expect(waitMs).toBeGreaterThanOrEqual(full / 2);
        expect(waitMs).toBeLessThanOrEqual(full);
      }),
    );
  });

  it('after a refusal of the credentials are those of the second refused call', () => {
    const failed = (status: number) => planFailure({ kind: 'rejected', status, detail: '' }, 0, 0.5);
    for (const status of [400, 401, 403])
      expect(failed(status)).toMatchObject({ isRejected: true, waitMs: coolDownMs(2) });
    expect(failed(404)).toMatchObject({ isRejected: false });
  });

  it.each<[Parameters<typeof planFailure>[0], object]>([
    [
      { kind: 'rejected', status: 404, detail: 'no path' },
      { error: 'no token: responded with status 404: no path' },
    ],
    [
      { kind: 'ambiguous', reason: 'lost', status: 403 },
      { error: 'no token: lost', isRejected: false },
    ],
    [{ kind: 'not_sent', reason: 'rate_limited', retryAfterMs: 90_000 }, { waitMs: 90_000 }],
    [
      { kind: 'not_sent', reason: 'foreign_response', detail: 'a page' },
      { error: 'no token: foreign_response: a page' },
    ],
    [{ kind: 'not_sent', reason: 'unreachable' }, { error: 'no token: unreachable' }],
  ])('after %j: %j', (outcome, plan) => expect(planFailure(outcome, 0, 0.5)).toMatchObject(plan));

  it('last 80 to 90 % of the lifetime before a renewal', () => {
    expect([0, 0.5].map((random) => renewAfterMs(1_000, random))).toEqual([800, 850]);
    expect(renewAfterMs(1_000, 0.999)).toBeLessThan(900);
  });
});
