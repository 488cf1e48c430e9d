import { describe, expect, it } from '@jest/globals';
import { planDelivery } from './delivery-plan.rules.js';
import type { SendOutcome } from '../send/outcome.rules.js';

const SCHEDULE = [5_000, 300_000];
const scheduled = (attempts: number) => ({ attempts, earlyAttempts: 0, isEarly: false });
const failed: SendOutcome = { kind: 'failed', status: null, error: '', answer: null, retryAfterMs: null };

describe('what becomes of a delivery', () => {
  it('is struck off when it arrived', () =>
    expect(planDelivery({ kind: 'delivered', status: 204, answer: null }, scheduled(7), SCHEDULE, 0)).toEqual(
      {
        status: 'delivered',
      },
    ));

  it.each([
    [0, 0, { status: 'pending', waitMs: 5_000 }],
    [0, 0.5, { status: 'pending', waitMs: 5_250 }],
    [1, 0, { status: 'pending', waitMs: 300_000 }],
    [2, 0, { status: 'failed' }],
  ])('after %i failures and one more, with %d of the jitter, it is %j', (attempts, random, expected) =>
    expect(planDelivery(failed, scheduled(attempts), SCHEDULE, random)).toEqual(expected),
  );

  it('is what it was when an attempt fails before its time, which does not count towards the schedule', () => {
    const early = { attempts: 2, earlyAttempts: 0, isEarly: true };
    expect(planDelivery(failed, early, SCHEDULE, 0)).toEqual({ status: 'pending', waitMs: null });
    const after = { attempts: 2, earlyAttempts: 1, isEarly: false };
    expect(planDelivery(failed, after, SCHEDULE, 0)).toEqual({ status: 'pending', waitMs: 300_000 });
  });

  it('begins the schedule again when a replica of the previous release has reset its attempts alone', () => {
    const reset = { attempts: 0, earlyAttempts: 2, isEarly: false };
    expect(planDelivery(failed, reset, SCHEDULE, 0)).toEqual({ status: 'pending', waitMs: 5_000 });
  });

  it('is kept until an endpoint that was gone is enabled again', () =>
    expect(
      planDelivery(
        { kind: 'gone', status: 410, error: '', answer: null, retryAfterMs: null },
        scheduled(9),
        SCHEDULE,
        0,
      ),
    ).toEqual({
      status: 'pending',
      waitMs: 0,
    }));
});
