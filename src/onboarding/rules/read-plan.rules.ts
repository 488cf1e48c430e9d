import type { Observation } from './machine.rules.js';
import { findEnd } from './ending.rules.js';
import type { EndingSession } from './ending.rules.js';
import { planNextReadMs } from './schedule.rules.js';
import type { ScheduleSettings, WatchedSession } from './schedule.rules.js';
import type { Reading } from './reconcile.rules.js';

/** What a read of a session brought. */
export type SessionRead =
  /** Byte for byte the answer that was kept last. */
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'observed';
      readonly observation: Observation & { readonly expiresAt: Date };
      readonly answer: KeptAnswer;
    }
  /** 404 or 410 on every path shape. */
  | { readonly kind: 'not_found'; readonly answer: KeptAnswer }
  /** Sent, and no usable answer came back. */
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs?: number }
  /** Not sent, or turned away unread: says nothing about the session. */
  | { readonly kind: 'not_sent'; readonly reason: string; readonly retryAfterMs?: number };

/** An answer as it is kept in session_observations. */
export interface KeptAnswer {
  readonly httpStatus: number;
  /** JSON text as it came; null for an answer without one, such as a 404. */
  readonly body: string | null;
  /** SHA-1 of the body, hex. */
  readonly hash: string;
  /** SHA-1 of what the body says in documented fields, hex; null for an answer without a body. */
  readonly factsHash: string | null;
}

/** What to write after a read. */
export type ReadStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'apply'; readonly reading: Reading; readonly answer: KeptAnswer | null }
  | {
      readonly kind: 'postpone';
      readonly failures: number;
      readonly notFound: number;
      readonly error: string | null;
      readonly retryMs: number;
    };

/** An answer that differs from the one kept in nothing that is read takes its place at most this often. */
const KEEP_AGAIN_MS = 3_600_000;

/** A session whose answer cannot be saved is set aside for this long, with the reason in last_error. */
const SET_ASIDE_MS = 15 * 60_000;

/**
 * Reads in a row, on every path shape, after which a session is `lost`. With the backoff between them that is about four minutes
 * at the default floor: long enough for a deployment of the remote service to pass, and the worse failure would be to go on
 * telling a customer to wait.
 */
export const LOST_AFTER_READS = 5;

/** What is known of a session when it is read. */
export interface ReadSession extends WatchedSession, EndingSession {
  readonly notFound: number;
  /** Of the answer that is kept; null before the first. */
  readonly factsHash: string | null;
  readonly answerKeptAt: Date | null;
}

/** Returns what to write after `read`. Total over every kind of read. */
export function planRead(
  poll: ReadSession,
  read: SessionRead,
  now: Date,
  settings: ScheduleSettings,
  random: number,
): ReadStep {
  switch (read.kind) {
    case 'unchanged':
      return unchanged(null);
    case 'observed':
      if (read.answer.factsHash === poll.factsHash) return unchanged(read.answer);
      return {
        kind: 'apply',
        reading: { kind: 'observed', observation: read.observation },
        answer: read.answer,
      };
    case 'not_found':
      return poll.notFound + 1 >= LOST_AFTER_READS
        ? { kind: 'apply', reading: { kind: 'gone' }, answer: read.answer }
        : postpone(1, 'not found on any path');
    case 'failed':
      return postpone(0, read.error, read.retryAfterMs);
    case 'not_sent':
      return {
        kind: 'postpone',
        failures: poll.failures,
        notFound: poll.notFound,
        error: read.reason,
        retryMs: Math.max(read.retryAfterMs ?? 0, settings.minIntervalMs),
      };
  }

  function unchanged(answer: KeptAnswer | null): ReadStep {
    const isOld = poll.answerKeptAt === null || now.getTime() - poll.answerKeptAt.getTime() >= KEEP_AGAIN_MS;
    const kept = isOld ? answer : null;
    // An answer that ends a row of failures has to be written, and so has the end of the watch, though the session is the same.
    const isSame = poll.failures === 0 && poll.notFound === 0 && findEnd(poll, now, settings) === null;
    return kept === null && isSame
      ? { kind: 'nothing' }
      : { kind: 'apply', reading: { kind: 'unchanged' }, answer: kept };
  }

  function postpone(notFound: number, error: string, retryAfterMs = 0): ReadStep {
    const failures = poll.failures + 1;
    const retryMs = planNextReadMs({ ...poll, failures }, now, settings, random);
    return {
      kind: 'postpone',
      failures,
      notFound: poll.notFound + notFound,
      error,
      retryMs: Math.max(retryMs, retryAfterMs),
    };
  }
}

/** What to write about a session whose answer the database refuses. */
export const planSetAside = (sqlState: string): Extract<ReadStep, { readonly kind: 'postpone' }> => ({
  kind: 'postpone',
  failures: 1,
  notFound: 0,
  error: `the answer cannot be saved (SQLSTATE ${sqlState})`,
  retryMs: SET_ASIDE_MS,
});
