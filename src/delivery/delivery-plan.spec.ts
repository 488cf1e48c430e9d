import { describe, expect, it } from '@jest/globals';
import { planDelivery, type SendOutcome } from './delivery-plan.rules.js';

const waitAfter = (failures: number) => [5_000, 300_000][failures];
const scheduled = (attempts: number) => ({ attempts, earlyAttempts: 0, isEarly: false });
const failed: SendOutcome = { kind: 'failed' };

describe('a delivery after an attempt', () => {
  it('is delivered if the receiver confirmed it', () => {
    const delivered: SendOutcome = { kind: 'delivered' };
    expect(planDelivery(delivered, scheduled(7), waitAfter, 0)).toEqual({ status: 'delivered' });
  });

  it.each([
    [0, 0, { status: 'pending', waitMs: 5_000 }],
    [0, 0.5, { status: 'pending', waitMs: 5_250 }],
    [1, 0, { status: 'pending', waitMs: 300_000 }],
    [2, 0, { status: 'failed' }],
  ])('that failed, with %i failures before and %d of the jitter, is %j', (attempts, random, expected) =>
    expect(planDelivery(failed, scheduled(attempts), waitAfter, random)).toEqual(expected),
  );

  it('keeps its time if an early attempt fails, which does not count towards the schedule', () => {
    const early = { attempts: 2, earlyAttempts: 0, isEarly: true };
    expect(planDelivery(failed, early, waitAfter, 0)).toEqual({ status: 'pending', waitMs: null });
    const after = { attempts: 2, earlyAttempts: 1, isEarly: false };
    expect(planDelivery(failed, after, waitAfter, 0)).toEqual({ status: 'pending', waitMs: 300_000 });
  });

  it('stays pending if the endpoint is gone', () => {
    const gone: SendOutcome = { ...failed, kind: 'gone', status: 410 };
    expect(planDelivery(gone, scheduled(9), waitAfter, 0)).toEqual({ status: 'pending', waitMs: 0 });
  });
});
