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
