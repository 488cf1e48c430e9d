import type { History } from '../api/client.js';

export type Point = History['points'][number];
export type Code = Point['reasons'][number];

/** The times of a chart in seconds, and the values of each of its lines. A gap has the value null. */
type Lines = [times: number[], ...values: (number | null)[][]];

/**
 * Returns the lines of these figures over the time range of the history. If no process ran, steps are missing, and the lines have a gap.
 */
export function linesOf(
  { stepSeconds, points, from, to }: History,
  figures: readonly ((point: Point) => number | null)[],
): Lines {
  const lines: Lines = [[], ...figures.map(() => [])];
  const [times, ...values] = lines;
  const add = (time: number, point: Point | null) => {
    times.push(time);
    for (const [index, of] of figures.entries()) values[index]!.push(point && of(point));
  };
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    if (before !== undefined && isGap(before, point, stepSeconds)) add(secondsOf(before) + stepSeconds, null);
    // The first step may have begun before the time range.
    add(Math.max(from, secondsOf(point)), point);
  }
  // Adds a gap at each end, because the axis covers only the times of the lines.
  if ((times[0] ?? to) > from) {
    times.unshift(from);
    for (const line of values) line.unshift(null);
  }
  if (times.at(-1)! < to) add(to, null);
  return lines;
}

interface Trouble {
  readonly code: Code;
  readonly title: string;
  /** The beginnings of the steps with the reason, as shares of the time range. */
  readonly starts: readonly number[];
  /** For how long it was present in the time range, in whole minutes. */
  readonly seconds: number;
  /** The end of the last minute with it; null if the status has the reason now. */
  readonly endedAt: Date | null;
}

/**
 * Returns the reasons of the status (`present`) and of all steps of the history, the most recent first. `stepShare`: the length of a step as
 * a share of the time range.
 */
export function troublesOf(
  { stepSeconds, points, reasons, from, to }: History,
  present: readonly Pick<Trouble, 'code' | 'title'>[],
) {
  const titles = new Map([...present, ...reasons].map(({ code, title }) => [code, title]));
  const isPresent = (code: Code) => present.some((each) => each.code === code);
  const shareOf = (seconds: number) => seconds / (to - from);
  const troubles = [...titles].map(([code, title]) => {
    const starts = points.filter(({ reasons }) => reasons.includes(code)).map(secondsOf);
    const lasted = points.flatMap((point) => point.lasted.filter((each) => each.code === code));
    const until = Math.min(to, Math.max(0, ...lasted.map((each) => Date.parse(each.until) / 1_000)));
    return {
      code,
      title,
      starts: starts.map((start) => shareOf(start - from)),
      seconds: lasted.reduce((sum, each) => sum + each.seconds, 0),
      endedAt: isPresent(code) ? null : new Date(until * 1_000),
    } satisfies Trouble;
  });
  const endOf = ({ endedAt }: Trouble) => endedAt?.getTime() ?? Infinity;
  troubles.sort((a, b) => (endOf(a) === endOf(b) ? 0 : endOf(b) - endOf(a)));
  return { troubles, stepShare: shareOf(stepSeconds) };
}

/**
 * Returns the time since which the history has no reason; null if its last step has one. Counts from the end of the first step without a
 * reason, because the first sample of a step may be later than its beginning. A missing step may have had a reason.
 */
export function wellSince({ stepSeconds, points }: History): Date | null {
  const last = points.findLastIndex((point, index) => {
    const next = points[index + 1];
    return point.reasons.length > 0 || (next !== undefined && isGap(point, next, stepSeconds));
  });
  const first = points[last + 1];
  return first === undefined ? null : new Date((secondsOf(first) + stepSeconds) * 1_000);
}

const secondsOf = ({ at }: Point): number => Date.parse(at) / 1_000;

const isGap = (before: Point, point: Point, stepSeconds: number): boolean =>
  secondsOf(point) - secondsOf(before) > 1.5 * stepSeconds;
