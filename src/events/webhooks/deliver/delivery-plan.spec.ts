import { describe, expect, it } from '@jest/globals';
import { planDelivery } from './delivery-plan.rules.js';
import type { SendOutcome } from '../send/outcome.rules.js';

const SCHEDULE = [5_000, 300_000];
const failed: SendOutcome = { kind: 'failed', status: null, error: '', answer: null, retryAfterMs: null };

describe('what becomes of a delivery', () => {
  it('is struck off when it arrived', () =>
    expect(planDelivery({ kind: 'delivered', status: 204, answer: null }, 7, SCHEDULE, 0)).toEqual({
      status: 'delivered',
    }));

  it.each([
    [0, 0, { status: 'pending', waitMs: 5_000 }],
    [0, 0.5, { status: 'pending', waitMs: 5_250 }],
    [1, 0, { status: 'pending', waitMs: 300_000 }],
    [2, 0, { status: 'failed' }],
  ])('after %i failures and one more, with %d of the jitter, it is %j', (attempts, random, expected) =>
    expect(planDelivery(failed, attempts, SCHEDULE, random)).toEqual(expected),
  );

  it('is kept for whoever enables an endpoint again that was gone', () =>
    expect(planDelivery({ kind: 'gone', status: 410, error: '', answer: null }, 9, SCHEDULE, 0)).toEqual({
      status: 'pending',
      waitMs: 0,
    }));
});
