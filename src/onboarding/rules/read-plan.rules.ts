import { findEnd, type EndingSession } from './ending.rules.js';
import { countMissed, MOST_COUNTED, NOT_FOUND, REFUSED, type MissedReads } from './lost.rules.js';
import { planNextReadMs, type ScheduleSettings, type WatchedSession } from './schedule.rules.js';
import type { Observed, Reading } from './reconcile.rules.js';

export type SessionRead =
  /** The response equals the last recorded response, byte for byte. */
  | { readonly kind: 'unchanged' }
  | Observed
  /**
   * A 404 or 410 (`not_found`), or a 401 or 403 (`refused`), on every path. `isOwn`: the service has served other sessions since it last
   * refused this one, or the base probe has shown that it is up while few sessions are missing.
   */
  | {
      readonly kind: 'not_found' | 'refused';
      readonly status: number;
      readonly isOwn: boolean;
      readonly retryAfterMs?: number | undefined;
    }
  /** The request was sent, but there is no usable response. */
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs?: number }
  /** The request was not sent, or the service accepts none now (401, 403, 429), so nothing is known about the session. */
  | { readonly kind: 'not_sent'; readonly reason: string; readonly retryAfterMs?: number };

/** The write that follows a read. */
export type ReadStep =
  { readonly kind: 'nothing' } | { readonly kind: 'apply'; readonly reading: Reading } | Postponement;

export interface Postponement extends MissedReads {
  readonly kind: 'postpone';
  /** The failed reads since the last good one; null: one more than before. */
  readonly failures: number | null;
  readonly error: string | null;
  /** The wait before the next read. 0 if no request was tried. */
  readonly retryMs: number;
  /** When the session was due. Given only if the read showed nothing about the session, which then stays about as late as before. */
  readonly dueAt?: string;
}

/** How long a session is postponed if its response cannot be saved; last_error gives the reason. */
const UNSAVABLE_RETRY_MS = 15 * 60_000;

export interface ReadSession extends WatchedSession, EndingSession, MissedReads {
  /** When the session was claimed, by the database's clock. */
  readonly now: Date;
  readonly stretch: number;
  /** When it was due, as PostgreSQL writes it. */
  readonly dueAt: string;
  /** The time of the first response that was older than the last recorded one, if all since were. */
  readonly olderSince: Date | null;
  /** The factsHash of the last recorded response. Null if that response has none. */
  readonly factsHash: string | null;
}

/** Returns what to write after a read of the session. `random` is in [0, 1). */
export function planRead(
  poll: ReadSession,
  read: SessionRead,
  settings: ScheduleSettings,
  random: number,
): ReadStep {
  const { now, stretch } = poll;
  switch (read.kind) {
    case 'unchanged':
      return unchanged();
    case 'observed':
      return read.response.factsHash === poll.factsHash ? unchanged() : { kind: 'apply', reading: read };
    case 'not_found':
      return missed(read, NOT_FOUND, 'not found on any path');
    case 'refused':
      return missed(read, REFUSED, `refused with status ${read.status} on every path`);
    case 'failed':
      return postpone(read.error, read.retryAfterMs);
    case 'not_sent':
      return planUnread(poll, read.reason, Math.max(read.retryAfterMs ?? 0, settings.minIntervalMs));
  }

  function unchanged(): ReadStep {
    // A response that changes nothing must still be written if it ends a series of failures or of older responses, or the watch, or
    // confirms that inverters are missing.
    const mayMiss = poll.lookAgainAt instanceof Date && poll.lookAgainAt <= now;
    const isFirst = poll.failures === 0 && poll.notFound === 0 && poll.olderSince === null;
    const isSame = isFirst && !mayMiss && findEnd(poll, now, settings) === null;
    return isSame ? { kind: 'nothing' } : { kind: 'apply', reading: { kind: 'unchanged' } };
  }

  function missed(
    { status, isOwn, retryAfterMs }: Extract<SessionRead, { readonly isOwn: boolean }>,
    evidence: typeof NOT_FOUND,
    error: string,
  ): ReadStep {
    if (!isOwn) return postpone(error, retryAfterMs);
    const counted = countMissed(poll, evidence, now, settings.minIntervalMs);
    if (counted.isLost) return { kind: 'apply', reading: { kind: 'gone', status } };
    const { notFound, notFoundSince, leftMs } = counted;
    const postponed = { ...postpone(error, retryAfterMs), notFound, notFoundSince };
    if (leftMs === null) return postponed;
    // No further read is needed, only time. The next read is due once that time is over.
    const endMs = Math.max(leftMs, settings.minIntervalMs, retryAfterMs ?? 0);
    return { ...postponed, retryMs: Math.min(postponed.retryMs, endMs) };
  }

  function postpone(error: string, retryAfterMs = 0): Postponement {
    const failures = Math.min(poll.failures + 1, MOST_COUNTED);
    const plannedMs = planNextReadMs({ ...poll, failures }, now, settings, stretch, random);
    const retryMs = Math.max(plannedMs, retryAfterMs);
    const { notFound, notFoundSince } = poll;
    return { kind: 'postpone', failures, notFound, notFoundSince, error, retryMs };
  }
}

/** Returns what to write about a claimed session if its read has shown nothing about it. */
export const planUnread = (
  {
    failures,
    notFound,
    notFoundSince,
    dueAt,
  }: Pick<ReadSession, 'failures' | 'notFound' | 'notFoundSince' | 'dueAt'>,
  error: string | null,
  retryMs: number,
): Postponement => ({ kind: 'postpone', failures, notFound, notFoundSince, error, retryMs, dueAt });

/** Returns what to write about a session whose response the database rejects. */
export const planUnsavable = (sqlState: string): Postponement => ({
  kind: 'postpone',
  failures: null,
  notFound: 0,
  notFoundSince: null,
  error: `the response cannot be saved (SQLSTATE ${sqlState})`,
  retryMs: UNSAVABLE_RETRY_MS,
});
