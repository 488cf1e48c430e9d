import {
  planNextReadMs,
  type OpenPhase,
  type ScheduleSettings,
  type SecondsUntilReads,
} from './schedule.rules.js';

/*
 * How the reads that SCS_MAX_REQUESTS_PER_SECOND allows are divided among sessions. All intervals between reads are lengthened by one
 * factor, the stretch, so that the reads fit. All sessions together want W reads per second at stretch 1, and W / s at stretch s. So the
 * stretch for a budget A is W / A. W follows from the ages of the sessions.
 *
 * Rejected: to derive the stretch from the backlog. A backlog follows a change of the stretch only after whole intervals, seconds for some
 * sessions and hours for others. A controller of the backlog is therefore either slow or oscillates.
 * Rejected: to learn the budget from refusals, in case the remote service has a lower limit than ours. With a remote limit of 20 reads per
 * second, this changed neither the refusals nor the delays. The lanes (lanes.rules.ts) and the limit of concurrency are enough.
 */

/** The part of the budget that the plan uses. The rest is for a backlog, registrations, starts and callers that wait. */
const PLANNED_PART = 0.97;
/** Limits the effect of faulty figures. A million sessions a week old need a stretch of only 550 at 2 reads per second. */
const MOST_STRETCH = 1_000;

/**
 * Once the stretch has been above `SHORT_STRETCH` for `SHORT_MS`, an event announces the shortage (`remote.budget_short`). Once the stretch
 * is at most `ENOUGH_STRETCH`, an event announces its end.
 */
export const SHORT_STRETCH = 2;
const ENOUGH_STRETCH = 1.5;
export const SHORT_MS = 15 * 60_000;

/** The number of groups between an age and e times that age. The ages in a group differ by at most 13 %. */
export const AGES_PER_E = 8;

export interface AgeGroup {
  readonly phase: OpenPhase;
  /** The logarithm of the age in seconds, times `AGES_PER_E`, rounded down. */
  readonly age: number;
  readonly sessions: number;
  /** Default: nothing has been learned about these sessions. */
  readonly secondsUntilReads?: SecondsUntilReads | undefined;
}

const LONG_AGO = new Date(-1e15);

/** Returns the reads per second that the sessions want at stretch 1. */
export function wantedPerSecond(groups: readonly AgeGroup[], settings: ScheduleSettings): number {
  const now = new Date(0);
  return groups.reduce((sum, { phase, age, sessions, secondsUntilReads }) => {
    const anchorAt = new Date(-1_000 * Math.exp((age + 0.5) / AGES_PER_E));
    // Only `awaiting_owner` begins with the session. In the other phases, a session counts as old, so slightly too few reads are expected.
    const startedAt = phase === 'awaiting_owner' ? anchorAt : LONG_AGO;
    const learned = secondsUntilReads && { secondsUntilReads, startedAt };
    const intervalMs = planNextReadMs({ phase, anchorAt, failures: 0, learned }, now, settings, 1, 0.5);
    return sum + (sessions * 1_000) / intervalMs;
  }, 0);
}

/** Returns the reads per second that may be planned. `ceiling`: SCS_MAX_REQUESTS_PER_SECOND, or Infinity. */
export const allowedPerSecond = (ceiling: number): number => PLANNED_PART * ceiling;

export const stretchFor = (wanted: number, allowed: number): number =>
  Math.min(MOST_STRETCH, Math.max(1, wanted / allowed));

/** The time since which the stretch has been too large, and the time at which the shortage was announced. */
export interface Shortage {
  readonly shortSince: Date | null;
  readonly announcedAt: Date | null;
}

/** Returns the shortage after a new stretch. If `announcedAt` becomes null, the announced shortage is over. */
export function nextShortage({ shortSince, announcedAt }: Shortage, stretch: number, now: Date): Shortage {
  const isShort = stretch > (announcedAt === null ? SHORT_STRETCH : ENOUGH_STRETCH);
  if (!isShort) return { shortSince: null, announcedAt: null };
  const since = shortSince ?? now;
  const isLong = now.getTime() - since.getTime() >= SHORT_MS;
  return { shortSince: since, announcedAt: announcedAt ?? (isLong ? now : null) };
}
