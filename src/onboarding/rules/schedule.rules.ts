import type { Environment } from '../../platform/env/environment.js';
import type { SessionState } from './machine.rules.js';

/** Why a session is watched; decides how often it is read and until when. */
export type Phase = 'awaiting_owner' | 'awaiting_installation' | 'settling' | 'late' | 'unrecognised';

/** Configuration of the schedule, in milliseconds. */
export interface ScheduleSettings {
  /** POLL_MIN_INTERVAL_MS and POLL_MAX_INTERVAL_MS: hold whatever the phase. */
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** SETTLE_HOURS. */
  readonly settleMs: number;
  /** LATE_ONLINE_DAYS. */
  readonly lateMs: number;
  /** How long something that ends the watch must be said for it to be believed. */
  readonly endEvidenceMs: number;
}

/** In floors, so that whatever shortens the schedule shortens this too: 6 hours by default, longer than any deployment. */
const END_EVIDENCE_INTERVALS = 1_440;

export const scheduleSettings = (environment: Environment): ScheduleSettings => ({
  minIntervalMs: environment.POLL_MIN_INTERVAL_MS,
  maxIntervalMs: environment.POLL_MAX_INTERVAL_MS,
  settleMs: environment.SETTLE_HOURS * 3_600_000,
  lateMs: environment.LATE_ONLINE_DAYS * 86_400_000,
  endEvidenceMs: environment.POLL_MIN_INTERVAL_MS * END_EVIDENCE_INTERVALS,
});

export interface WatchedSession {
  readonly phase: Phase;
  /** When the phase began, by the database's clock. */
  readonly anchorAt: Date;
  /** Reads in a row that failed or found nothing. */
  readonly failures: number;
}

/**
 * How often, as a share of the time spent in the phase: somebody is watching a screen in the first minutes, hardly anybody
 * after a day. A twentieth means that a change is seen at most 5 % later than it could have been.
 */
const SHARE_OF_AGE = 1 / 20;

/** Times the floor, in the beginning of the phase: nobody waits for a further inverter or for an expired session. */
const LEAST_INTERVALS: Readonly<Record<Phase, number>> = {
  awaiting_owner: 1,
  awaiting_installation: 1,
  unrecognised: 2,
  settling: 4,
  late: 8,
};

/** Spreads sessions that were started or overdue together; upwards only, so that the floor holds. */
const JITTER = 0.1;

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** When to read next, counted from `now`, in milliseconds. `random` is in [0, 1). */
export function planNextReadMs(
  session: WatchedSession,
  now: Date,
  settings: ScheduleSettings,
  random: number,
): number {
  const { minIntervalMs, maxIntervalMs } = settings;
  const ageMs = now.getTime() - session.anchorAt.getTime();
  const byAgeMs = Math.max(ageMs * SHARE_OF_AGE, LEAST_INTERVALS[session.phase] * minIntervalMs);
  const backoffMs = minIntervalMs * 2 ** Math.min(session.failures, 30);
  const intervalMs = session.failures > 0 ? Math.max(backoffMs, byAgeMs) : byAgeMs;
  const base = clamp(intervalMs, minIntervalMs, Math.max(minIntervalMs, maxIntervalMs / (1 + JITTER)));
  return Math.min(maxIntervalMs, base * (1 + JITTER * random));
}

/** The phase that a state puts a session in. */
export function phaseOf(state: SessionState): Phase {
  switch (state) {
    case 'online':
      return 'settling';
    // Little is left to come of either.
    case 'expired':
    case 'lost':
      return 'late';
    case 'awaiting_owner':
    case 'awaiting_installation':
    case 'unrecognised':
      return state;
  }
}
