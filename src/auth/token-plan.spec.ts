import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  endpointWaitMs,
  coolDownMs,
  planToken,
  renewAfterMs,
  type TokenPlan,
  type TokenRow,
} from './token-plan.rules.js';

const VALID: TokenRow = {
  generation: 1,
  tokenCiphertext: Buffer.from('sealed'),
  ours: true,
  obtainedAgoMs: 1_000,
  renewInMs: 8_000,
  expiresInMs: 10_000,
  rejected: false,
  failures: 0,
  nextAttemptInMs: 0,
  leased: false,
};
const EXPIRED = { ...VALID, renewInMs: -2_000, expiresInMs: -1 };
const NEW = {
  ...VALID,
  ours: false,
  tokenCiphertext: null,
  obtainedAgoMs: null,
  renewInMs: null,
  expiresInMs: null,
};
/** The row after a 401: the refused token is removed. */
const SUSPECTED = { ...VALID, rejected: true, tokenCiphertext: null };

const TABLE: readonly [string, TokenRow, TokenPlan][] = [
  ['valid', VALID, { kind: 'use', alsoRenew: false }],
  ['valid, due for renewal', { ...VALID, renewInMs: 0 }, { kind: 'use', alsoRenew: true }],
  ['valid, being renewed', { ...VALID, renewInMs: 0, leased: true }, { kind: 'use', alsoRenew: false }],
  [
    'valid, last renewal failed',
    { ...VALID, renewInMs: 0, failures: 1, nextAttemptInMs: 500 },
    { kind: 'use', alsoRenew: false },
  ],
  ['none yet', NEW, { kind: 'renew' }],
  ['none yet, being obtained', { ...NEW, leased: true }, { kind: 'wait' }],
  [
    'of other credentials, which are rejected',
    { ...VALID, ours: false, rejected: true, failures: 3, nextAttemptInMs: 9 },
    { kind: 'renew' },
  ],
  ['expired', EXPIRED, { kind: 'renew' }],
  ['expired, being renewed', { ...EXPIRED, leased: true }, { kind: 'wait' }],
  [
    'expired, last attempt failed',
    { ...EXPIRED, failures: 1, nextAttemptInMs: 499.2 },
    { kind: 'refuse', reason: 'token_unavailable', retryAfterMs: 500 },
  ],
  [
    'expired, last attempt failed long ago',
    { ...EXPIRED, failures: 1, nextAttemptInMs: -1 },
    { kind: 'renew' },
  ],
  ['refused once', SUSPECTED, { kind: 'try', withToken: 'new' }],
  ['refused once, trial in progress', { ...SUSPECTED, leased: true }, { kind: 'wait' }],
  [
    'refused once, trial without a result',
    { ...SUSPECTED, nextAttemptInMs: 5 },
    { kind: 'refuse', reason: 'token_unavailable', retryAfterMs: 5 },
  ],
  [
    'refused again',
    { ...VALID, rejected: true, failures: 1, nextAttemptInMs: 900 },
    { kind: 'refuse', reason: 'credentials_rejected', retryAfterMs: 900 },
  ],
  [
    'refused again, cooled down',
    { ...VALID, rejected: true, failures: 1 },
    { kind: 'try', withToken: 'stored' },
  ],
  [
    'refused again, cooled down, trial in progress',
    { ...VALID, rejected: true, failures: 1, leased: true },
    { kind: 'wait' },
  ],
  [
    'refused again, cooled down, expired',
    { ...EXPIRED, rejected: true, failures: 1 },
    { kind: 'try', withToken: 'new' },
  ],
];

describe('planToken', () => {
  it.each(TABLE)('%s', (_, row, plan) => expect(planToken(row)).toEqual(plan));
});

describe('waits', () => {
  it('are short after the first refusal and then double from 5 s to 5 min', () =>
    expect([1, 2, 3, 4, 8, 9, 100].map(coolDownMs)).toEqual([
      1_000, 5_000, 10_000, 20_000, 300_000, 300_000, 300_000,
    ]));

  it('double from 1 s to 1 min after a failure, less up to half', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.double({ min: 0, max: 0.999, noNaN: true }), (failures, random) => {
        const waitMs = endpointWaitMs(failures, random);
        const full = Math.min(1_000 * 2 ** failures, 60_000);
        expect(waitMs).toBeGreaterThanOrEqual(full / 2);
        expect(waitMs).toBeLessThanOrEqual(full);
      }),
    );
  });

  it('last 80 to 90 % of the lifetime before a renewal', () => {
    expect(renewAfterMs(1_000, 0)).toBe(800);
    expect(renewAfterMs(1_000, 0.999)).toBeLessThan(900);
  });
});
