import { inSeconds, later, look, type Candidate, type Look } from '../../stalls/look.rules.js';
import type { CloseReason } from '../rules/ending.rules.js';
import type { SessionState } from '../rules/machine.rules.js';
import type { SESSION_CAUSES } from './session.causes.rules.js';

type SessionCause = keyof typeof SESSION_CAUSES;

/** The facts that decide whether a session is stalled. All times but `expiresAt` are by the database's clock. */
export interface SessionFacts {
  readonly state: SessionState;
  readonly rule: string;
  readonly stateChangedAt: Date;
  readonly recordedAt: Date;
  readonly expiresAt: Date;
  readonly finished: boolean;
  readonly active: boolean;
  readonly expired: boolean | null;
  readonly closedAt: Date | null;
  readonly closeReason: CloseReason | null;
  /** Whether a newer session has taken its place. */
  readonly isSuperseded: boolean;
  /** Whether it has a poll. The next fields are null or 0 without one. */
  readonly isWatched: boolean;
  readonly checkedAt: Date;
  readonly nextCheckAt: Date | null;
  /** The reads after the last good one, all of which have failed, and when the first of them did. */
  readonly failures: number;
  readonly failingSince: Date | null;
  /** The reads in a row that were refused or found nothing, each while others were read. */
  readonly notFound: number;
  readonly notFoundSince: Date | null;
  /** Whether it fails for long, and others have been read since. If they have not, that is the trouble of the deployment. */
  readonly areOthersServed: boolean;
  readonly flappingSince: Date | null;
  readonly changesClearAt: Date | null;
  readonly listed: number;
  readonly missing: number;
  readonly missingSince: Date | null;
  /** How long 95 % of the sessions of its brand wait for their installation. Null if too few are known. */
  readonly p95Seconds: number | null;
  readonly known: number | null;
}

interface SessionThresholds {
  readonly ownerMs: number;
  /** Applies to brands whose usual wait is not known. */
  readonly installationMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** How long unrecognised flags must last: longer than a deployment of the remote service, which may return odd flags for some minutes. */
const UNRECOGNISED_MS = 15 * MINUTE_MS;
/** How long reads must have failed: longer than a restart or a short outage of the remote service. */
export const UNREACHABLE_MS = 60 * MINUTE_MS;
/** One or two failures pass by themselves. Reads that were not sent do not count, for example those in an outage. */
export const UNREACHABLE_READS = 3;
/** A refusal was understood, so two are enough. */
const REFUSED_READS = 2;
/** For how long a session counts as stalled after it was closed as lost. */
const LOST_MS = 30 * DAY_MS;
/** A session expires soon in the last tenth of its lifetime, at most a week: enough time to read a reminder. */
const LAST_PART = 10;
const LAST_MS = 7 * DAY_MS;
/** When to look again at what changes without the session: reads of other sessions, and reads with the same response. */
const LOOK_AGAIN_MS = 15 * MINUTE_MS;
const READ_MS = 10_000;

/** Returns from when on a session or an invitation expires soon. Its lifetime is the time from `from` to `expiresAt`. */
export function expiresSoonFrom(from: Date, expiresAt: Date): Date {
  const lifetimeMs = expiresAt.getTime() - from.getTime();
  return later(expiresAt, -Math.min(lifetimeMs / LAST_PART, LAST_MS));
}

/** Decides why a session is stalled, the most important cause first. A cause that makes other facts unreliable precedes theirs. */
export function stallOfSession(
  facts: SessionFacts,
  thresholds: SessionThresholds,
  now: Date,
): Look<SessionCause> {
  const { closedAt, isSuperseded, state } = facts;
  if (isSuperseded) return look([], now);
  if (closedAt !== null) return look(afterwards(facts, closedAt), now);
  return look(
    [
      unwatched(facts),
      state === 'lost' && lost(facts),
      refused(facts),
      ...unrecognised(facts),
      unreachable(facts),
      flapping(facts),
      expiryIgnored(facts),
      ...missing(facts),
      completedNotOnline(facts, thresholds),
      expiringSoon(facts),
      startedNotCompleted(facts, thresholds),
    ],
    now,
    lookAgain(facts, now),
  );
}

type Maybe = Candidate<SessionCause> | false;

/** A closed session waits for nothing, but a lost one may need another, and a settled one may lose its inverters while it is watched on. */
function afterwards(facts: SessionFacts, closedAt: Date): Maybe[] {
  if (facts.closeReason === 'lost') return [lost(facts, closedAt)];
  return facts.closeReason === 'settled' && facts.isWatched ? missing(facts) : [];
}

function lost({ rule, stateChangedAt }: SessionFacts, closedAt?: Date): Candidate<SessionCause> {
  const evidence = { isRefused: rule === 'refused_on_every_path', isClosed: closedAt !== undefined };
  const until = closedAt && later(closedAt, LOST_MS);
  return { cause: 'lost', since: stateChangedAt, ...(until && { until }), evidence };
}

function unwatched({ isWatched, stateChangedAt }: SessionFacts): Maybe {
  return !isWatched && { cause: 'unwatched', since: stateChangedAt, evidence: {} };
}

function refused({ notFound, notFoundSince }: SessionFacts): Maybe {
  if (notFound < REFUSED_READS || notFoundSince === null) return false;
  return { cause: 'refused', since: notFoundSince, evidence: { reads: notFound } };
}

function unrecognised(facts: SessionFacts): Maybe[] {
  const { state, rule, stateChangedAt: since, finished, active, expired } = facts;
  if (state !== 'unrecognised') return [];
  const from = later(since, UNRECOGNISED_MS);
  const thresholdSeconds = inSeconds(UNRECOGNISED_MS);
  return rule === 'too_many_inverters'
    ? [{ cause: 'too_many_inverters', since, from, evidence: { thresholdSeconds } }]
    : [{ cause: 'unrecognised', since, from, evidence: { finished, active, expired, thresholdSeconds } }];
}

function unreachable({ failures, failingSince, areOthersServed }: SessionFacts): Maybe {
  if (failures < UNREACHABLE_READS || failingSince === null || !areOthersServed) return false;
  const from = later(failingSince, UNREACHABLE_MS);
  const evidence = { failures, thresholdSeconds: inSeconds(UNREACHABLE_MS) };
  return { cause: 'remote_unreachable', since: failingSince, from, evidence };
}

function flapping({ flappingSince, changesClearAt }: SessionFacts): Maybe {
  if (flappingSince === null || changesClearAt === null) return false;
  return { cause: 'flapping', since: flappingSince, until: changesClearAt, evidence: {} };
}

const isAwaiting = ({ state }: SessionFacts) =>
  state === 'awaiting_owner' || state === 'awaiting_installation';

/** The remote service has been read after the date. Ignores a date that had passed when the session was recorded as active. */
function expiryIgnored(facts: SessionFacts): Maybe {
  const { expiresAt, checkedAt } = facts;
  if (!isAwaiting(facts) || expiresAt >= checkedAt || isDated(facts)) return false;
  return { cause: 'expiry_ignored', since: expiresAt, evidence: { expiresAt: expiresAt.toISOString() } };
}

const isDated = ({ expiresAt, recordedAt }: SessionFacts): boolean => expiresAt <= recordedAt;

function missing({ state, missing: count, listed, missingSince: since }: SessionFacts): Maybe[] {
  if (state !== 'online' || since === null) return [];
  const cause = listed === 0 ? 'all_inverters_missing' : 'some_inverters_missing';
  return [{ cause, since, evidence: { missing: count, listed } }];
}

function completedNotOnline(facts: SessionFacts, { installationMs }: SessionThresholds): Maybe {
  const { state, stateChangedAt: since, p95Seconds, known } = facts;
  if (state !== 'awaiting_installation') return false;
  const thresholdSeconds = p95Seconds ?? inSeconds(installationMs);
  const thresholdFrom = p95Seconds === null ? 'configured' : 'brand_p95';
  const from = later(since, thresholdSeconds * 1_000);
  return { cause: 'completed_not_online', since, from, evidence: { thresholdSeconds, thresholdFrom, known } };
}

// Only an owner needs the time: an installation may come online after the session has expired.
function expiringSoon(facts: SessionFacts): Maybe {
  const { state, recordedAt, expiresAt } = facts;
  if (state !== 'awaiting_owner' || isDated(facts)) return false;
  const since = expiresSoonFrom(recordedAt, expiresAt);
  return { cause: 'expiring_soon', since, evidence: { expiresAt: expiresAt.toISOString() } };
}

function startedNotCompleted(
  { state, recordedAt: since }: SessionFacts,
  { ownerMs }: SessionThresholds,
): Maybe {
  if (state !== 'awaiting_owner') return false;
  const evidence = { thresholdSeconds: inSeconds(ownerMs) };
  return { cause: 'started_not_completed', since, from: later(since, ownerMs), evidence };
}

/** Returns when to look at what changes without the session: reads with the same response, reads of others, the usual wait. */
function lookAgain(facts: SessionFacts, now: Date): Date | null {
  const { state, failures, failingSince, expiresAt, checkedAt, nextCheckAt } = facts;
  const times = [
    failures >= UNREACHABLE_READS && failingSince !== null && unreachableAfter(failingSince, now),
    state === 'awaiting_installation' && later(now, DAY_MS),
    isAwaiting(facts) &&
      !isDated(facts) &&
      expiresAt >= checkedAt &&
      nextReadAfter(expiresAt, nextCheckAt ?? now, now),
  ].filter((at) => at !== false);
  return times.length === 0 ? null : new Date(Math.min(...times.map((at) => at.getTime())));
}

function unreachableAfter(failingSince: Date, now: Date): Date {
  const from = later(failingSince, UNREACHABLE_MS);
  return from > now ? from : later(now, LOOK_AGAIN_MS);
}

function nextReadAfter(at: Date, nextCheckAt: Date, now: Date): Date {
  const read = later(nextCheckAt > at ? nextCheckAt : at, READ_MS);
  return read > now ? read : later(now, LOOK_AGAIN_MS);
}
