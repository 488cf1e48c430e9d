import type { History } from '../api/client.js';

export type Point = History['points'][number];
type Code = Point['reasons'][number];

/** The times of a picture in seconds, and the values of each of its lines. A gap has the value null. */
export type Lines = [times: number[], ...values: (number | null)[][]];

/** A shorter time is shown as a part of this, so that one point is not as wide as a day. */
const SHORTEST_SECONDS = 600;

/** Returns the lines of figures over time. Where steps are missing, no process ran, and the lines have a gap. */
export function linesOf(
  { stepSeconds, points }: History,
  figures: readonly ((point: Point) => number | null)[],
): Lines {
  const lines: Lines = [[], ...figures.map(() => [])];
  const [times, ...values] = lines;
  const add = (time: number, point: Point | null) => {
    times.push(time);
    for (const [index, of] of figures.entries()) values[index]!.push(point && of(point));
  };
  const last = points.at(-1);
  const firstAt = last === undefined ? 0 : secondsOf(last) - SHORTEST_SECONDS;
  if (points[0] !== undefined && secondsOf(points[0]) > firstAt) add(firstAt, null);
  for (const point of points) {
    const at = secondsOf(point);
    const before = times.at(-1);
    if (before !== undefined && at - before > 1.5 * stepSeconds) add(before + stepSeconds, null);
    add(at, point);
  }
  return lines;
}

export interface Trouble {
  readonly code: Code;
  /** The share of the picture at which the step with the reason begins, of the time from the first to the last step. */
  readonly starts: readonly number[];
  readonly seconds: number;
  readonly lastAt: Date;
}

/** Returns the reasons of all steps, the most recent first, and how wide a step is as a share of the picture. */
export function troublesOf({ stepSeconds, points }: History): { troubles: Trouble[]; stepShare: number } {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return { troubles: [], stepShare: 1 };
  const length = secondsOf(last) - secondsOf(first) + stepSeconds;
  const troubles = [...new Set(points.flatMap(({ reasons }) => reasons))].map((code) => {
    const steps = points.filter(({ reasons }) => reasons.includes(code));
    return {
      code,
      starts: steps.map((step) => (secondsOf(step) - secondsOf(first)) / length),
      seconds: steps.length * stepSeconds,
      lastAt: new Date(steps.at(-1)!.at),
    };
  });
  troubles.sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
  return { troubles, stepShare: stepSeconds / length };
}

/** Returns since when no step has had a reason, at the earliest since the first step; null without a step. */
export function wellSince({ stepSeconds, points }: History): Date | null {
  const last = points.findLast(({ reasons }) => reasons.length > 0);
  if (last !== undefined) return new Date((secondsOf(last) + stepSeconds) * 1_000);
  return points[0] === undefined ? null : new Date(points[0].at);
}

const secondsOf = ({ at }: Point): number => Date.parse(at) / 1_000;
