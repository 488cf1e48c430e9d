import type { FunnelDay } from '../api/client.js';

export const STEPS = ['invited', 'opened', 'started', 'ownerDone', 'online'] as const;
type Step = (typeof STEPS)[number];

interface FunnelStep {
  readonly step: Step;
  readonly count: number;
  /** The share of all invited owners; null if nobody was invited. */
  readonly share: number | null;
}

/** Returns the steps of the funnel with the sums over all days. */
export function funnelOf(days: readonly FunnelDay[]): FunnelStep[] {
  const sumOf = (step: Step) => days.reduce((sum, day) => sum + day[step], 0);
  const invited = sumOf('invited');
  return STEPS.map((step) => {
    const count = sumOf(step);
    return { step, count, share: invited === 0 ? null : count / invited };
  });
}

const DAY_MS = 86_400_000;

/** Returns the first of the last `days` days, in UTC like the days of the funnel. */
export const firstDay = (now: Date, days: number): string =>
  new Date(now.getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);

/** The fewest invitations, and the fewest of them online, by which a row is compared. */
const LEAST = { invited: 20, online: 5 } as const;
/** A row is an outlier if it differs from what it is compared with by this factor. */
const OUTLIER = 2;

/** What stands out in a row of the funnel. */
export interface Outlier {
  /** Whether it takes at least twice as long from the owner being done to online as in the middle one of the other rows, or as before. */
  readonly isSlow: boolean;
  /** Whether at most half as many of the invited are online as in the middle one of the other rows. */
  readonly isFew: boolean;
}

/** Compares a row with the other rows, and with itself in the time before. */
export function outlierOf(
  row: FunnelDay,
  rows: readonly FunnelDay[],
  before: FunnelDay | undefined,
): Outlier {
  const others = rows.filter(({ key }) => key !== row.key);
  const usual = [middleOf(others.flatMap(timeOf)), ...[before].flatMap((each) => (each ? timeOf(each) : []))];
  const share = middleOf(others.flatMap(shareOf));
  return {
    isSlow: timeOf(row).some((seconds) =>
      usual.some((each) => each !== undefined && seconds > each && seconds >= OUTLIER * each),
    ),
    isFew: shareOf(row).some((each) => share !== undefined && each < share && OUTLIER * each <= share),
  };
}

const timeOf = ({ online, medianSecondsFromDone: seconds }: FunnelDay): number[] =>
  seconds === null || online < LEAST.online ? [] : [seconds];
const shareOf = ({ invited, online }: FunnelDay): number[] =>
  invited < LEAST.invited ? [] : [online / invited];
const middleOf = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[(values.length - 1) >> 1];

const WEEK_MS = 7 * DAY_MS;

export interface Week {
  readonly from: Date;
  readonly to: Date;
}

/** Returns the last `count` weeks with the current one, the oldest first. They begin on Monday in UTC. */
export function weeksBefore(now: Date, count: number): Week[] {
  const day = Math.floor(now.getTime() / DAY_MS);
  // The first day since 1970 was a Thursday.
  const monday = (day - ((day + 3) % 7)) * DAY_MS;
  return Array.from({ length: count }, (_, index) => {
    const from = monday - (count - 1 - index) * WEEK_MS;
    return { from: new Date(from), to: new Date(from + WEEK_MS) };
  });
}

export interface WeekRow {
  /** Its first day. */
  readonly week: string;
  readonly now: FunnelDay;
  /** The same brand in the week before; undefined if nobody was invited. */
  readonly before: FunnelDay | undefined;
}

/** Returns the rows of each week but the first, the newest week first, each beside those of the week before. */
export const againstBefore = (
  weeks: readonly { readonly from: Date; readonly rows: readonly FunnelDay[] }[],
): WeekRow[] =>
  weeks
    .flatMap(({ from, rows }, index) =>
      index === 0
        ? []
        : rows.map((now) => ({
            week: from.toISOString().slice(0, 10),
            now,
            before: weeks[index - 1]!.rows.find(({ key }) => key === now.key),
          })),
    )
    .sort((one, other) => (one.week < other.week ? 1 : one.week > other.week ? -1 : 0));
