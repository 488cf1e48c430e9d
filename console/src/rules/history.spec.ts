import { describe, expect, it } from '@jest/globals';
import { linesOf, troublesOf, wellSince, type Point } from './history.js';

const START = Date.parse('2026-11-26T12:00:00Z') / 1_000;
const at = (minute: number, reasons: Point['reasons'] = [], overdue: number | null = minute) =>
  ({ at: new Date((START + minute * 60) * 1_000).toISOString(), reasons, overdue }) as Point;
const history = (...points: Point[]) => ({ stepSeconds: 60, points });
const overdue = (point: Point) => point.overdue;

describe('the lines of a picture', () => {
  it('have a gap where steps are missing', () => {
    const [times, values, doubled] = linesOf(history(at(0), at(1), at(20), at(21, [], null)), [
      overdue,
      () => 7,
    ]);
    expect(times.map((time) => (time - START) / 60)).toEqual([0, 1, 2, 20, 21]);
    expect(values).toEqual([0, 1, null, 20, null]);
    expect(doubled).toEqual([7, 7, null, 7, 7]);
  });

  it('leave room for 10 minutes', () => {
    const [times, values] = linesOf(history(at(0), at(1)), [overdue]);
    expect([times[0]! - START, values![0]]).toEqual([60 - 600, null]);
    expect(linesOf(history(), [overdue])).toEqual([[], []]);
  });
});

describe('what was wrong', () => {
  it('is each reason with its steps, the most recent first', () => {
    const { troubles, stepShare } = troublesOf(
      history(at(0, ['no_worker']), at(1), at(2, ['no_worker', 'remote_slow']), at(3, ['remote_slow'])),
    );
    expect(stepShare).toBe(0.25);
    expect(troubles).toEqual([
      {
        code: 'remote_slow',
        starts: [0.5, 0.75],
        seconds: 120,
        lastAt: new Date('2026-11-26T12:03:00Z'),
      },
      { code: 'no_worker', starts: [0, 0.5], seconds: 120, lastAt: new Date('2026-11-26T12:02:00Z') },
    ]);
    expect(troublesOf(history()).troubles).toEqual([]);
  });

  it('ended with its last step, or before the first', () => {
    expect(wellSince(history(at(0), at(1, ['no_worker']), at(2)))).toEqual(new Date('2026-11-26T12:02:00Z'));
    expect(wellSince(history(at(0), at(1)))).toEqual(new Date('2026-11-26T12:00:00Z'));
    expect(wellSince(history())).toBeNull();
  });
});
