import type { Environment } from '../../platform/env/environment.js';
import type { SessionState } from './machine.rules.js';

/** Why a session is watched. The phase decides how often the session is read, and until when. */
export type Phase = 'awaiting_owner' | 'awaiting_installation' | 'settling' | 'late' | 'unrecognised';

export interface ScheduleSettings {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** How long an online session is watched. */
  readonly settleMs: number;
  /** How long a session is watched once it has expired or is lost. */
  readonly lateMs: number;
  /** How long the remote service must report a session as gone or over before its watch ends. */
  readonly endEvidenceMs: number;
}

/** `endEvidenceMs` in multiples of `minIntervalMs`. By default 6 hours, longer than any deployment of the remote service. */
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
  /** Consecutive reads that failed or returned 404 or 410. */
  readonly failures: number;
}

/** Each interval is this fraction of the time since the phase began, so that a change is seen with a delay of at most 5 % of that time. */
const SHARE_OF_AGE = 1 / 20;

/** The shortest interval per phase, in multiples of `minIntervalMs`. It is longer in phases in which no owner waits for a change. */
const LEAST_INTERVALS: Readonly<Record<Phase, number>> = {
  awaiting_owner: 1,
  awaiting_installation: 1,
  unrecognised: 2,
  settling: 4,
  late: 8,
};

/** Each interval is lengthened at random by up to this fraction, so that sessions that are due together spread out. */
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

export function phaseOf(state: SessionState): Phase {
  switch (state) {
    case 'online':
      return 'settling';
    // An expired or lost session may still come online late.
    case 'expired':
    case 'lost':
      return 'late';
    case 'awaiting_owner':
    case 'awaiting_installation':
    case 'unrecognised':
      return state;
  }
}
