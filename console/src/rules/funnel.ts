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
  /** Of all invited; null if nobody was. */
  readonly share: number | null;
}

/** Adds up the days. */
export function funnelOf(days: readonly FunnelDay[]): FunnelStep[] {
  const sumOf = (step: Step) => days.reduce((sum, day) => sum + day[step], 0);
  const invited = sumOf('invited');
  return STEPS.map((step) => {
    const count = sumOf(step);
    return { step, count, share: invited === 0 ? null : count / invited };
  });
}

const DAY_MS = 86_400_000;

/** The first day of the last `days` days, in UTC, as the funnel counts them. */
export const firstDay = (now: Date, days: number): string =>
  new Date(now.getTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
