import type { Observation } from './machine.rules.js';
import { findEnd } from './ending.rules.js';
import type { EndingSession } from './ending.rules.js';
import { planNextReadMs } from './schedule.rules.js';
import type { ScheduleSettings, WatchedSession } from './schedule.rules.js';
import type { Reading } from './reconcile.rules.js';

/** The result of reading a session. */
export type SessionRead =
  /** Byte for byte the last recorded response. */
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'observed';
      readonly observation: Observation & { readonly expiresAt: Date };
      readonly answer: KeptAnswer;
    }
  /** 404 or 410 on every path shape. */
  | { readonly kind: 'not_found'; readonly answer: KeptAnswer }
  /** Sent, but without a usable response. */
  | { readonly kind: 'failed'; readonly error: string; readonly retryAfterMs?: number }
  /** Not sent, or refused unread: says nothing about the session. */
  | { readonly kind: 'not_sent'; readonly reason: string; readonly retryAfterMs?: number };

/** A response as recorded in session_observations. */
export interface KeptAnswer {
  readonly httpStatus: number;
  /** JSON text as received; null for a response without one, such as a 404. */
  readonly body: string | null;
  /** SHA-1 of the body, hex. */
  readonly hash: string;
  /** SHA-1 (hex) of the documented fields of the body; null for a response without a body, and for the response to a start. */
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

/** A response that differs from the recorded one only in bytes, not in facts, replaces it at most this often. */
const KEEP_AGAIN_MS = 3_600_000;

/** How long a session is postponed if its response cannot be saved; last_error gives the reason. */
const SET_ASIDE_MS = 15 * 60_000;

/**
 * Consecutive reads, each with 404 or 410 on every path shape, after which a session is `lost`. With backoff this takes about four
 * minutes at the default floor: long enough for a deployment of the remote service. To wait longer would be worse, because the customer
 * would still be told to wait.
 */
export const LOST_AFTER_READS = 5;

/** What is known of a session when it is read. */
export interface ReadSession extends WatchedSession, EndingSession {
  readonly notFound: number;
  /** Of the recorded response; null before the first. */
  readonly factsHash: string | null;
  readonly answerKeptAt: Date | null;
}

/** Returns what to write after `read`, for every kind of read. */
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
    // A response that ends a series of failures, or the watch, must be written even if the session is the same.
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

/** Returns what to write about a session whose response the database rejects. */
export const planSetAside = (sqlState: string): Extract<ReadStep, { readonly kind: 'postpone' }> => ({
  kind: 'postpone',
  failures: 1,
  notFound: 0,
  error: `the answer cannot be saved (SQLSTATE ${sqlState})`,
  retryMs: SET_ASIDE_MS,
});
