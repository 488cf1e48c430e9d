import type { SESSION_STALL_CAUSES } from '../../events/event-schemas.rules.js';
import type { UsualWait } from '../rules/habits.rules.js';
import type { SessionState } from '../rules/machine.rules.js';

/*
 * A session is stalled if it waits for longer than can be expected, so that a person should look. Each cause has a threshold, below which
 * a person could do nothing but wait. If a session has several causes, the first one in this list hides the others:
 *
 * - `unrecognised`: as long as nobody knows what the flags mean, the other causes would be guesses.
 * - `remote_unreachable`: without reads, nobody knows whether the session still waits.
 * - `completed_not_online`: the owner has done all, and the installation is late.
 * - `expiring_soon`: the owner can still finish, but not for long. Hides the next cause, since it is more urgent.
 * - `started_not_completed`: the owner has not finished the web flow.
 */
export type SessionStallCause = (typeof SESSION_STALL_CAUSES)[number];

export interface Stall<Cause extends string = SessionStallCause> {
  readonly cause: Cause;
  /** The time since which the cause has been present. The session counts as stalled only later, after a threshold. */
  readonly since: Date;
  /** The observed values, and the threshold. Contains no personal data and no text of the remote service. */
  readonly evidence: Readonly<Record<string, string | number | boolean | null>>;
}

/** The facts that decide whether a session is stalled. All times but `expiresAt` are by the database's clock. */
export interface AwaitedSession {
  readonly state: SessionState;
  readonly stateChangedAt: Date;
  readonly recordedAt: Date;
  readonly expiresAt: Date;
  readonly finished: boolean;
  readonly active: boolean;
  readonly expired: boolean | null;
  /** When the first read after the last good one failed. If none has failed, when the session was last read with success. */
  readonly failingSince: Date;
  /** The reads after the last good one, all of which have failed. */
  readonly failures: number;
  /** Whether the session is closed or superseded. Nobody waits for it then. */
  readonly isOver: boolean;
}

interface StallThresholds {
  readonly ownerMs: number;
  /** Applies to brands whose usual wait is not known. */
  readonly installationMs: number;
  readonly usualWait: UsualWait | undefined;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * How long unrecognised flags must last: longer than a deployment of the remote service, which may return odd flags for some minutes. In
 * this time, the session is read about fifteen times.
 */
const UNRECOGNISED_MS = 15 * MINUTE_MS;
/**
 * How long reads must have failed: as long as a refused session takes to be lost, and longer than a restart or a short outage of the remote
 * service.
 */
const UNREACHABLE_MS = 60 * MINUTE_MS;
/**
 * How many reads must have failed, as in `stuck_reason` of admin.sessions: one or two failures pass by themselves. Reads that were not sent
 * do not count, for example those in an outage.
 */
const UNREACHABLE_READS = 3;

/** A session expires soon in the last tenth of its lifetime, at most a week: enough time to read a reminder, too little to wait longer. */
const LAST_PART = 10;
const MOST_MS = 7 * DAY_MS;

/** Returns from when on a session expires soon. Its lifetime is the time from `from` to `expiresAt`. */
export function expiresSoonFrom(from: Date, expiresAt: Date): Date {
  const lifetimeMs = expiresAt.getTime() - from.getTime();
  return new Date(expiresAt.getTime() - Math.min(lifetimeMs / LAST_PART, MOST_MS));
}

/** Returns why the session is stalled at `now`, else null. */
export function stalledSession(
  session: AwaitedSession,
  thresholds: StallThresholds,
  now: Date,
): Stall | null {
  if (session.isOver) return null;
  switch (session.state) {
    case 'unrecognised':
      return unrecognised(session, now) ?? unreachable(session, now);
    case 'awaiting_installation':
      return unreachable(session, now) ?? completedNotOnline(session, thresholds, now);
    case 'awaiting_owner':
      return (
        unreachable(session, now) ??
        expiringSoon(session, now) ??
        startedNotCompleted(session, thresholds.ownerMs, now)
      );
    case 'online':
    case 'expired':
    case 'lost':
      return null;
  }
}

const hasLasted = (since: Date, thresholdMs: number, now: Date) =>
  now.getTime() - since.getTime() >= thresholdMs;
const inSeconds = (ms: number) => Math.round(ms / 1_000);

function unrecognised(
  { stateChangedAt, finished, active, expired }: AwaitedSession,
  now: Date,
): Stall | null {
  if (!hasLasted(stateChangedAt, UNRECOGNISED_MS, now)) return null;
  const thresholdSeconds = inSeconds(UNRECOGNISED_MS);
  return {
    cause: 'unrecognised',
    since: stateChangedAt,
    evidence: { finished, active, expired, thresholdSeconds },
  };
}

function unreachable({ failingSince, failures }: AwaitedSession, now: Date): Stall | null {
  if (failures < UNREACHABLE_READS || !hasLasted(failingSince, UNREACHABLE_MS, now)) return null;
  const thresholdSeconds = inSeconds(UNREACHABLE_MS);
  return { cause: 'remote_unreachable', since: failingSince, evidence: { failures, thresholdSeconds } };
}

function completedNotOnline(
  { stateChangedAt }: AwaitedSession,
  { usualWait, installationMs }: StallThresholds,
  now: Date,
): Stall | null {
  const thresholdSeconds = usualWait?.p95Seconds ?? inSeconds(installationMs);
  if (!hasLasted(stateChangedAt, thresholdSeconds * 1_000, now)) return null;
  const evidence = usualWait
    ? { thresholdSeconds, thresholdFrom: 'brand_p95', known: usualWait.known }
    : { thresholdSeconds, thresholdFrom: 'configured', known: null };
  return { cause: 'completed_not_online', since: stateChangedAt, evidence };
}

// Ignores an expiresAt that had already passed when the session was recorded as active. Only an owner needs the time: an installation may
// come online after the session has expired.
function expiringSoon({ recordedAt, expiresAt }: AwaitedSession, now: Date): Stall | null {
  const since = expiresSoonFrom(recordedAt, expiresAt);
  if (expiresAt <= recordedAt || now < since) return null;
  return { cause: 'expiring_soon', since, evidence: { expiresAt: expiresAt.toISOString() } };
}

function startedNotCompleted({ recordedAt }: AwaitedSession, ownerMs: number, now: Date): Stall | null {
  if (!hasLasted(recordedAt, ownerMs, now)) return null;
  return {
    cause: 'started_not_completed',
    since: recordedAt,
    evidence: { thresholdSeconds: inSeconds(ownerMs) },
  };
}
