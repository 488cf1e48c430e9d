import { describe, expect, it } from '@jest/globals';
import { duration, progressLine } from './progress.rules.js';

const counts = {
  accepted: 3_000,
  invalid: 3,
  registered: 997,
  known: 0,
  rejected: 0,
  uncertain: 0,
  cancelled: 0,
};
const campaign = { status: 'running', rows: 4_000, counts, perSecond: 19.84, remainingSeconds: 152 } as const;

describe('the progress of a campaign', () => {
  it('has a bar, the rate, the remaining time and the troubles', () => {
    expect(progressLine(campaign, 80)).toBe(
      '[######------------------] 1,000 of 4,000 rows, 3 min left, 19.8/s, 3 invalid',
    );
  });

  it('leaves out what is not known, and says so if the campaign does not run', () => {
    const paused = { ...campaign, status: 'paused', perSecond: null, remainingSeconds: null } as const;
    expect(progressLine(paused, 80)).toBe(
      '[######------------------] 1,000 of 4,000 rows, paused, 3 invalid',
    );
  });

  it.each([
    [59, '[#-----] 1,000 of 4,000 rows, 3 min left, 19.8/s, 3 invalid'],
    [50, '1,000 of 4,000 rows, 3 min left, 19.8/s, 3 invalid'],
    [39, '1,000 of 4,000 rows, 3 min left, 19.8/s'],
    [10, '1,000 of 4,000 rows'],
    [0, '1,000 of 4,000 rows'],
    [undefined, '1,000 of 4,000 rows, 3 min left, 19.8/s, 3 invalid'],
  ])('fits in %s columns', (width, line) => expect(progressLine(campaign, width)).toBe(line));

  it('is full at the end, and for a file without rows', () => {
    expect(progressLine({ ...campaign, rows: 0, counts: { ...counts, accepted: 0 } }, 80)).toContain(
      `[${'#'.repeat(24)}]`,
    );
  });

  it.each([
    [0, '0 s'],
    [89, '89 s'],
    [90, '2 min'],
    [5_399, '90 min'],
    [5_400, '2 h'],
    [129_600, '2 days'],
  ])('of %d seconds says %s', (seconds, text) => expect(duration(seconds)).toBe(text));
});
