import { findEnd, type EndingSession } from './ending.rules.js';
import { planNextReadMs, type ScheduleSettings, type WatchedSession } from './schedule.rules.js';
import type { Observed, Reading } from './reconcile.rules.js';

export type SessionRead =
  /** The response equals the last recorded response, byte for byte. */
  | { readonly kind: 'unchanged' }
  | Observed
  /** A 404 or 410 on every path. */
  | { readonly kind: 'not_found'; readonly status: number }
  /** A 401 or 403 on every path. `isOwn`: the service has served other sessions since it last refused this one. */
  | {
      readonly kind: 'refused';
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

export interface Postponement {
  readonly kind: 'postpone';
  /** The failed reads since the last good one; null: one more than before. */
  readonly failures: number | null;
  readonly notFound: number;
  readonly error: string | null;
  /** The wait before the next read. 0 if no request was tried. */
  readonly retryMs: number;
  /** When the session was due. Given only if the read showed nothing about the session, which then stays about as late as before. */
  readonly dueAt?: string;
}

/** How long a session is postponed if its response cannot be saved; last_error gives the reason. */
const UNSAVABLE_RETRY_MS = 15 * 60_000;

/** A session is `lost` after this many reads with 404 or 410 on every path and no successful read between them: 8 minutes by default. */
// This is longer than a deployment of the remote service takes, but short, since customers wait until the session is `lost`.
export const LOST_AFTER_READS = 5;

/** A session is also `lost` after this many reads with 401 or 403 on every path: at least an hour by default. */
// This is longer, because a refusal may be a temporary fault of permissions. A refusal does not count if other sessions are refused, too.
export const LOST_AFTER_REFUSALS = 10;

export interface ReadSession extends WatchedSession, EndingSession {
  /** When the session was claimed, by the database's clock. */
  readonly now: Date;
  readonly stretch: number;
  /** When it was due, as PostgreSQL writes it. */
  readonly dueAt: string;
  readonly notFound: number;
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
      return poll.notFound + 1 >= LOST_AFTER_READS
        ? { kind: 'apply', reading: { kind: 'gone', status: read.status } }
        : postpone(1, 'not found on any path');
    case 'refused':
      return read.isOwn && poll.notFound + 1 >= LOST_AFTER_REFUSALS
        ? { kind: 'apply', reading: { kind: 'gone', status: read.status } }
        : postpone(read.isOwn ? 1 : 0, `refused with status ${read.status} on every path`, read.retryAfterMs);
    case 'failed':
      return postpone(0, read.error, read.retryAfterMs);
    case 'not_sent':
      return planUnread(poll, read.reason, Math.max(read.retryAfterMs ?? 0, settings.minIntervalMs));
  }

  function unchanged(): ReadStep {
    // A response that changes nothing must still be written if it ends a series of failures or the watch.
    const isSame = poll.failures === 0 && poll.notFound === 0 && findEnd(poll, now, settings) === null;
    return isSame ? { kind: 'nothing' } : { kind: 'apply', reading: { kind: 'unchanged' } };
  }

  function postpone(notFound: number, error: string, retryAfterMs = 0): Postponement {
    const failures = poll.failures + 1;
    const plannedMs = planNextReadMs({ ...poll, failures }, now, settings, stretch, random);
    const retryMs = Math.max(plannedMs, retryAfterMs);
    return { kind: 'postpone', failures, notFound: poll.notFound + notFound, error, retryMs };
  }
}

/** Returns what to write about a claimed session if its read has shown nothing about it. */
export const planUnread = (
  { failures, notFound, dueAt }: Pick<ReadSession, 'failures' | 'notFound' | 'dueAt'>,
  error: string | null,
  retryMs: number,
): Postponement => ({ kind: 'postpone', failures, notFound, error, retryMs, dueAt });

/** Returns what to write about a session whose response the database rejects. */
export const planUnsavable = (sqlState: string): Postponement => ({
  kind: 'postpone',
  failures: null,
  notFound: 0,
  error: `the response cannot be saved (SQLSTATE ${sqlState})`,
  retryMs: UNSAVABLE_RETRY_MS,
});
