import { describe, expect, it } from '@jest/globals';
import { remainingSeconds, type Progress } from './campaign.rules.js';

const running: Progress = { status: 'running', rowsLeft: 1_000, perSecond: 20, requestsPerSecond: 50 };

describe('the remaining time of a campaign', () => {
  it('follows from the measured rate, which includes the budget', () => {
    expect(remainingSeconds(running)).toBe(50);
    expect(remainingSeconds({ ...running, rowsLeft: 0 })).toBe(0);
  });

  it('follows from the budget before there is a rate', () => {
    expect(remainingSeconds({ ...running, perSecond: null })).toBe(20);
  });

  it('is not known without either, or if the campaign does not run', () => {
    expect(remainingSeconds({ ...running, perSecond: null, requestsPerSecond: 0 })).toBeNull();
    for (const status of ['paused', 'cancelled', 'finished', 'checked'] as const)
      expect(remainingSeconds({ ...running, status })).toBeNull();
  });
});
