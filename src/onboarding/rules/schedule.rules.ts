import type { Environment } from '../../platform/env/environment.js';
import type { SessionState } from './machine.rules.js';

/** Why a session that is not closed is watched. The phase decides how often the session is read, and until when. */
export const PHASES = [
  'awaiting_owner',
  'awaiting_installation',
  'settling',
  'late',
  'unrecognised',
] as const;
export type OpenPhase = (typeof PHASES)[number];

/** In the phase `watching`, a session is settled and closed, and is read now and then to learn whether its inverters are still there. */
export type Phase = OpenPhase | 'watching';

export interface ScheduleSettings {
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** How long an online session is watched. */
  readonly settleMs: number;
  /** The time between two reads of a settled session. 0: it is not read. */
  readonly watchMs: number;
  /** How long a session is watched once it has expired or is lost. */
  readonly lateMs: number;
  /** How long the remote service must report a session as gone or over before its watch ends. */
  readonly endEvidenceMs: number;
}

/** `endEvidenceMs` in multiples of `minIntervalMs`. Default: 6 hours, longer than any deployment of the remote service. */
const END_EVIDENCE_INTERVALS = 1_440;

/**
 * How long what a response lacks must last before it counts, in multiples of `minIntervalMs`: a session that is not found, or an inverter
 * that is not listed. Default: 8 minutes.
 */
export const LASTING_INTERVALS = 32;

export const scheduleSettings = (environment: Environment): ScheduleSettings => ({
  minIntervalMs: environment.POLL_MIN_INTERVAL_MS,
  maxIntervalMs: environment.POLL_MAX_INTERVAL_MS,
  settleMs: environment.SETTLE_HOURS * 3_600_000,
  watchMs: environment.WATCH_ONLINE_DAYS * 86_400_000,
  lateMs: environment.LATE_ONLINE_DAYS * 86_400_000,
  endEvidenceMs: environment.POLL_MIN_INTERVAL_MS * END_EVIDENCE_INTERVALS,
});

export interface WatchedSession {
  readonly phase: Phase;
  /** When the phase began, by the database's clock. */
  readonly anchorAt: Date;
  /** The reads since the last successful read: they failed, were refused, or returned 404 or 410. */
  readonly failures: number;
  /** When a read must look again for inverters that the last response did not list, if any. */
  readonly lookAgainAt?: Date | null;
  /** What is known of the changes of this brand in this phase, and when the session started. Default: the assumed hazard below. */
  readonly learned?: { readonly secondsUntilReads: SecondsUntilReads; readonly startedAt: Date } | undefined;
}

/** Returns how many seconds after `age` the density of reads adds up to `reads`. `least` and `most` bound the density, per second. */
export type SecondsUntilReads = (
  age: number,
  reads: number,
  bounds: Readonly<Record<'least' | 'most', number>>,
) => number;

/*
 * The theory of checking (Barlow, Hunter and Proschan 1963; Keller 1974): if a change has the hazard h(t) and a read costs as much as p
 * seconds of delay, then the density of reads that costs least is √(h(t) / 2p). For people and installers, h(t) = α / (t + τ) fits: most
 * changes come soon, a few after days. Hence the interval √(2p(t + τ) / α). It grows with the square root of the age, not with the age.
 *
 * α and p occur only as 2p / α. At stretch 1, p is the cost at which the first interval of a phase is right: 2p / α = first² / τ. A stretch
 * multiplies all intervals, since it multiplies this p by stretch².
 *
 * This hazard is assumed. If the hazard of a brand is known, that hazard is used instead, with the same cost (src/brands).
 */
interface PhasePlan {
  /** The first interval, in multiples of `minIntervalMs`. */
  readonly first: number;
  /** How long the first interval stays the same, in multiples of `minIntervalMs`. At the end of this time, t is 0. */
  readonly held: number;
  /** τ, in multiples of `minIntervalMs`. The smaller τ is, the faster the intervals grow. */
  readonly tau: number;
  /** The longest interval, in multiples of `maxIntervalMs`. */
  readonly ceiling: number;
}

const PLANS: Readonly<Record<OpenPhase, PhasePlan>> = {
  // Owners wait at the screen for up to 10 minutes. Half of those who leave return within hours. After 9 hours, reads are 15 min apart.
  awaiting_owner: { first: 1, held: 40, tau: 0.6, ceiling: 1 },
  // Installations of the fastest brands take minutes, while the owner still waits. Those of other brands take hours to days.
  awaiting_installation: { first: 1, held: 40, tau: 0.6, ceiling: 1 },
  // The next change is unknown, so the session is read half as often as an open session.
  unrecognised: { first: 2, held: 20, tau: 1.2, ceiling: 1 },
  // Further inverters come within the hour after the first, or not at all. Nobody waits for them.
  settling: { first: 4, held: 0, tau: 4, ceiling: 4 },
  // Few expired or lost sessions change again, most of these within hours. Nobody waits for them, so reads may be two hours apart.
  late: { first: 8, held: 0, tau: 6, ceiling: 8 },
};

/** Each interval is lengthened at random by up to this fraction, so that sessions that are due together spread out. */
const JITTER = 0.1;

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value));

/** Returns the longest interval of a phase at stretch 1. */
export const longestIntervalMs = (phase: OpenPhase, maxIntervalMs: number): number =>
  maxIntervalMs * PLANS[phase].ceiling;

/** Returns when to read next, in milliseconds from `now`. `stretch` is at least 1. `random` is in [0, 1). */
// The ceiling bounds the interval at stretch 1, and the waits after failures. A stretch above 1 lengthens every interval alike.
export function planNextReadMs(
  session: WatchedSession,
  now: Date,
  settings: ScheduleSettings,
  stretch: number,
  random: number,
): number {
  const { phase } = session;
  if (phase === 'watching') return watchedAgainMs(session, now, settings, random);
  const { minIntervalMs, maxIntervalMs } = settings;
  const mostMs = longestIntervalMs(phase, maxIntervalMs);
  const within = (ms: number) => {
    const base = clamp(ms, minIntervalMs, Math.max(minIntervalMs, mostMs / (1 + JITTER)));
    return Math.min(mostMs, base * (1 + JITTER * random));
  };
  const mostBaseMs = Math.max(minIntervalMs, untilLookMs(session, now));
  const plannedMs =
    Math.min(within(intervalMs({ ...session, phase }, now, settings, stretch)), mostBaseMs) * stretch;
  if (session.failures === 0) return plannedMs;
  return Math.max(plannedMs, within(minIntervalMs * 2 ** Math.min(session.failures, 30)));
}

const untilLookMs = ({ lookAgainAt }: WatchedSession, now: Date): number =>
  lookAgainAt ? lookAgainAt.getTime() - now.getTime() : Infinity;

/** Returns when to read a settled session next. No stretch applies, since such a read waits until the budget has room. */
function watchedAgainMs(
  session: WatchedSession,
  now: Date,
  { minIntervalMs, watchMs }: ScheduleSettings,
  random: number,
): number {
  const plannedMs =
    session.failures > 0 ? minIntervalMs * 2 ** Math.min(session.failures, 30) : untilLookMs(session, now);
  return clamp(plannedMs, minIntervalMs, Math.max(minIntervalMs, watchMs)) * (1 + JITTER * random);
}

/** Returns the interval at stretch 1, which the caller then limits. */
function intervalMs(
  { phase, anchorAt, learned }: WatchedSession & { readonly phase: OpenPhase },
  now: Date,
  { minIntervalMs, maxIntervalMs }: ScheduleSettings,
  stretch: number,
): number {
  const { first, held, tau } = PLANS[phase];
  const ageMs = now.getTime() - anchorAt.getTime();
  if (learned === undefined) {
    const age = Math.max(0, ageMs / minIntervalMs - held);
    return first * minIntervalMs * Math.sqrt(1 + age / tau);
  }
  // The person at the screen has been waiting since the start of the session, not since the beginning of the phase.
  if (now.getTime() - learned.startedAt.getTime() < held * minIntervalMs) return minIntervalMs;
  const bounds = { least: 1_000 / longestIntervalMs(phase, maxIntervalMs), most: 1_000 / minIntervalMs };
  return (learned.secondsUntilReads(ageMs / 1_000, stretch, bounds) * 1_000) / stretch;
}

/** Returns the phase of a session that is not closed. */
export function phaseOf(state: SessionState): OpenPhase {
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
