import { describe, expect, it } from '@jest/globals';
import { linesOf, troublesOf, wellSince, type Point } from './history.js';

const START = Date.parse('2026-11-26T12:00:00Z') / 1_000;
const instant = (minute: number) => new Date((START + minute * 60) * 1_000).toISOString();
const at = (minute: number, reasons: Point['reasons'] = [], overdue: number | null = minute) =>
  ({
    at: instant(minute),
    reasons,
    lasted: reasons.map((code) => ({ code, seconds: 60, until: instant(minute + 1) })),
    overdue,
  }) as Point;
const described = (code: Point['reasons'][number]) => ({
  code,
  title: `The title of ${code}`,
  severity: 'warning' as const,
  waitsFor: 'us' as const,
  runbook: 'docs/operations.md#a-section',
  remedies: [],
});
/** A history of 40 minutes. */
const history = (...points: Point[]) => ({
  object: 'status_history' as const,
  stepSeconds: 60,
  reasons: [...new Set(points.flatMap(({ reasons }) => reasons))].map(described),
  points,
  from: START,
  to: START + 40 * 60,
});
const overdue = (point: Point) => point.overdue;
const minutes = (times: readonly number[]) => times.map((time) => (time - START) / 60);

describe('the lines of a picture', () => {
  it('have a gap where steps are missing, and reach over the time of the history', () => {
    const [times, values, doubled] = linesOf(history(at(3), at(4), at(20), at(21, [], null)), [
      overdue,
      () => 7,
    ]);
    expect(minutes(times)).toEqual([0, 3, 4, 5, 20, 21, 40]);
    expect(values).toEqual([null, 3, 4, null, 20, null, null]);
    expect(doubled).toEqual([null, 7, 7, null, 7, 7, null]);
  });

  it('begin with a step that began before, and end with one that has not ended', () => {
    const [times, values] = linesOf(history(at(-0.5), at(0.5), at(39.5)), [overdue]);
    expect(minutes(times)).toEqual([0, 0.5, 1.5, 39.5, 40]);
    expect(values).toEqual([-0.5, 0.5, null, 39.5, null]);
  });

  it('are empty without points', () => {
    const [times, values] = linesOf(history(), [overdue]);
    expect([minutes(times), values]).toEqual([
      [0, 40],
      [null, null],
    ]);
  });
});

describe('what was wrong', () => {
  const none: never[] = [];

  it('is each reason with its steps and their end, the most recent first', () => {
    const { troubles, stepShare } = troublesOf(
      history(at(0, ['no_worker']), at(1), at(2, ['no_worker', 'remote_slow']), at(10, ['remote_slow'])),
      none,
    );
    expect(stepShare).toBe(1 / 40);
    expect(troubles).toEqual([
      {
        code: 'remote_slow',
        title: 'The title of remote_slow',
        starts: [2 / 40, 10 / 40],
        seconds: 120,
        endedAt: new Date('2026-11-26T12:11:00Z'),
      },
      {
        code: 'no_worker',
        title: 'The title of no_worker',
        starts: [0, 2 / 40],
        seconds: 120,
        endedAt: new Date('2026-11-26T12:03:00Z'),
      },
    ]);
    expect(troublesOf(history(), none).troubles).toEqual([]);
  });

  it('has not ended while the reason is present, even if no step has it yet', () => {
    const { troubles } = troublesOf(
      history(at(10, ['no_worker']), at(39.5, ['remote_slow'])),
      (['no_worker', 'disk_full'] as const).map(described),
    );
    expect(troubles).toMatchObject([
      { code: 'no_worker', seconds: 60, endedAt: null },
      { code: 'disk_full', seconds: 0, endedAt: null },
      // The last minute is not over when the history ends.
      { code: 'remote_slow', seconds: 60, endedAt: new Date('2026-11-26T12:40:00Z') },
    ]);
  });

  it('lasted for as many minutes as had it, however long the steps of the picture are', () => {
    const point = (start: number, minutesOfIt: number): Point => ({
      ...at(start, ['remote_slow']),
      lasted: [{ code: 'remote_slow', seconds: 60 * minutesOfIt, until: instant(start + 2) }],
    });
    const day = { ...history(at(0), point(5, 1), point(10, 1), at(15)), stepSeconds: 300 };
    expect(troublesOf(day, none).troubles).toMatchObject([
      { code: 'remote_slow', seconds: 120, endedAt: new Date('2026-11-26T12:12:00Z') },
    ]);
  });

  it('ended when nothing is known to be wrong since', () => {
    const since = (...points: Point[]) => wellSince(history(...points));
    expect(since(at(0), at(1, ['no_worker']), at(2), at(3))).toEqual(new Date('2026-11-26T12:03:00Z'));
    expect(since(at(0), at(1))).toEqual(new Date('2026-11-26T12:01:00Z'));
    expect(since(at(0), at(20), at(21))).toEqual(new Date('2026-11-26T12:21:00Z'));
    expect(since(at(0, ['no_worker']))).toBeNull();
    expect(since()).toBeNull();
  });
});
