import { describe, expect, it } from '@jest/globals';
import { restoredUser } from './adoption/adoption.rules.js';
import { remainingSeconds, summaryOf, type Progress } from './campaign.rules.js';

const running: Progress = { status: 'running', rowsLeft: 981, perSecond: 20, requestsPerSecond: 50 };

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

describe('the summary of a file', () => {
  const counts = {
    accepted: 1,
    invalid: 40,
    registered: 2,
    known: 7,
    rejected: 3,
    uncertain: 4,
    cancelled: 5,
  };

  it('counts each row once', () => {
    const problems = { reference_conflict: 3, adopt_contradicts: 5, duplicate_row: 11, ean_length: 20 };
    expect(summaryOf(counts, problems)).toEqual({
      new: 15,
      known: 7,
      conflicts: 8,
      invalid: 21,
      duplicates: 11,
    });
    expect(summaryOf(counts, {})).toMatchObject({ conflicts: 0, invalid: 40, duplicates: 0 });
  });
});

it('a user to adopt has its times again after it was stored as JSON', () => {
  const user = {
    id: 'u',
    createdAt: new Date('2026-11-20T10:00:00Z'),
    updatedAt: new Date('2026-11-21T10:00:00Z'),
  } as Parameters<typeof restoredUser>[0];
  const restored = (of: object) => restoredUser(JSON.parse(JSON.stringify(of)) as typeof user);
  expect(restored(user)).toEqual(user);
  expect(restored({ ...user, createdAt: null, updatedAt: null })).toEqual({
    ...user,
    createdAt: null,
    updatedAt: null,
  });
});
