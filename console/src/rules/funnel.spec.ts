import { expect, it } from '@jest/globals';
import { firstDay, funnelOf } from './funnel.js';

const DAY = { sent: 0, expired: 0, declined: 0, medianSecondsToOnline: null, p95SecondsToOnline: null };

it('adds up the days of the funnel, and shares them by the invited', () => {
  const steps = funnelOf([
    { key: '2026-11-25', invited: 6, opened: 4, started: 3, ownerDone: 2, online: 1, ...DAY },
    { key: '2026-11-26', invited: 4, opened: 1, started: 0, ownerDone: 0, online: 0, ...DAY },
  ]);
  expect(steps.map(({ step, count, share }) => [step, count, share])).toEqual([
    ['invited', 10, 1],
    ['opened', 5, 0.5],
    ['started', 3, 0.3],
    ['ownerDone', 2, 0.2],
    ['online', 1, 0.1],
  ]);
  expect(funnelOf([])[0]).toEqual({ step: 'invited', count: 0, share: null });
});

it('begins the last days in UTC, with today as one of them', () => {
  expect(firstDay(new Date('2026-11-26T00:30:00Z'), 7)).toBe('2026-11-20');
});
