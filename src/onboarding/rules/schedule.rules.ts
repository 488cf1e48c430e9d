import type { Environment } from '../../platform/env/environment.js';
import type { SessionState } from './machine.rules.js';

/** Why a session is watched. Decides how often it is read, and until when. */
export type Phase = 'awaiting_owner' | 'awaiting_installation' | 'settling' | 'late' | 'unrecognised';

/** Configuration of the schedule, in milliseconds. */
export interface ScheduleSettings {
  /** POLL_MIN_INTERVAL_MS and POLL_MAX_INTERVAL_MS: the limits in every phase. */
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** SETTLE_HOURS. */
  readonly settleMs: number;
  /** LATE_ONLINE_DAYS. */
  readonly lateMs: number;
  /** How long an assertion that ends the watch must last before it is accepted. */
  readonly endEvidenceMs: number;
}

/**
 * In multiples of the floor, so that every setting that shortens the schedule shortens this too. Default: 6 hours, longer than any
 * deployment.
 */
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
  /** Consecutive reads that failed or found nothing. */
  readonly failures: number;
}

/**
 * Interval as a share of the time spent in the phase: in the first minutes somebody watches a screen, after a day hardly anybody does.
 * With a twentieth, a change is seen at most 5 % later than it could have been.
 */
const SHARE_OF_AGE = 1 / 20;

/**
 * Shortest interval at the beginning of a phase, in multiples of the floor: nobody waits for a further inverter or for an expired
 * session.
 */
const LEAST_INTERVALS: Readonly<Record<Phase, number>> = {
  awaiting_owner: 1,
  awaiting_installation: 1,
  unrecognised: 2,
  settling: 4,
  late: 8,
};

/** Spreads sessions that were started together or are overdue together. Upwards only, so that the floor holds. */
const JITTER = 0.1;

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** Returns when to read next, in milliseconds from `now`. `random` is in [0, 1). */
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

/** Returns the phase of a session in this state. */
export function phaseOf(state: SessionState): Phase {
  switch (state) {
    case 'online':
      return 'settling';
    // Little more is expected of either.
    case 'expired':
    case 'lost':
      return 'late';
    case 'awaiting_owner':
    case 'awaiting_installation':
    case 'unrecognised':
      return state;
  }
}
