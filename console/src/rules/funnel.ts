import type { FunnelDay } from '../api/client.js';

export const STEPS = ['invited', 'opened', 'started', 'ownerDone', 'online'] as const;
type Step = (typeof STEPS)[number];

export const STEP_NAMES: Readonly<Record<Step, string>> = {
  invited: 'Invited',
  opened: 'Opened',
  started: 'Started',
  ownerDone: 'Owner done (inferred)',
  online: 'Online',
};

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
