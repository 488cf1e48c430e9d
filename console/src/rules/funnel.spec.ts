import { describe, expect, it } from '@jest/globals';
import { againstBefore, firstDay, funnelOf, outlierOf, weeksBefore } from './funnel.js';

const DAY = {
  object: 'funnel_row' as const,
  ...{
    sent: 0,
    expired: 0,
    declined: 0,
    failedStarts: 0,
    medianSecondsToOnline: null,
    p95SecondsToOnline: null,
  },
  ...{ medianSecondsFromDone: null, p95SecondsFromDone: null },
};

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

it('begins weeks on Monday, and puts each brand beside the week before', () => {
  const weeks = weeksBefore(new Date('2026-11-29T23:30:00Z'), 2);
  expect(weeks).toEqual([
    { from: new Date('2026-11-16'), to: new Date('2026-11-23') },
    { from: new Date('2026-11-23'), to: new Date('2026-11-30') },
  ]);
  expect(weeksBefore(new Date('2026-11-30T00:00:00Z'), 1)[0]!.from).toEqual(new Date('2026-11-30'));
  const row = (key: string, invited: number) => ({
    ...{ key, invited, opened: 0, started: 0, ownerDone: 0, online: 0 },
    ...DAY,
  });
  const rows = againstBefore([
    { from: weeks[0]!.from, rows: [row('acme', 1)] },
    { from: weeks[1]!.from, rows: [row('acme', 2), row('sunward', 3)] },
  ]);
  expect(rows.map(({ week, now, before }) => [week, now.key, now.invited, before?.invited])).toEqual([
    ['2026-11-23', 'acme', 2, 1],
    ['2026-11-23', 'sunward', 3, undefined],
  ]);
});

describe('a row of the funnel', () => {
  const row = (key: string, online: number, medianSecondsFromDone: number | null) => ({
    ...{ key, invited: 40, opened: 40, started: 40, ownerDone: online, online },
    ...{ ...DAY, medianSecondsFromDone },
  });
  const others = [row('acme', 30, 3_600), row('sunward', 32, 4_000), row('rare', 4, 1)];
  const before = row('slow', 30, 3_700);

  it.each([
    ['as the others and before', row('slow', 30, 3_900), before, [false, false]],
    ['online at once, as before', row('slow', 30, 0), row('slow', 30, 0), [false, false]],
    ['slow beside the others', row('slow', 30, 36_000), undefined, [true, false]],
    ['slow beside the time before', row('slow', 30, 7_150), row('slow', 30, 3_500), [true, false]],
    ['too rarely online to be slow', row('slow', 4, 36_000), before, [false, true]],
    ['online half as often', row('slow', 15, 3_600), before, [false, true]],
    ['without anybody online', row('slow', 0, null), undefined, [false, true]],
  ])('is %s', (_, each, past, [isSlow, isFew]) =>
    expect(outlierOf(each, [...others, each], past)).toEqual({ isSlow, isFew }),
  );

  it.each([
    ['alone', [before]],
    ['while nobody is online', ['one', 'other'].map((key) => row(key, 0, null))],
  ])('is never an outlier %s', (_, rows) =>
    expect(outlierOf(rows[0]!, rows, undefined)).toEqual({ isSlow: false, isFew: false }),
  );
});
