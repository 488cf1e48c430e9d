import type { Phase, ScheduleSettings } from './schedule.rules.js';

/** Why a session is no longer watched. */
export type CloseReason = 'settled' | 'late_window_over' | 'lost' | 'erased';

export interface EndingSession {
  readonly phase: Phase;
  /** When the phase began, by the database's clock. */
  readonly anchorAt: Date;
  readonly expiresAt: Date;
  /** When the session was started, by the database's clock. */
  readonly recordedAt: Date;
}

/** A reason to close that consecutive reads have given and that is not yet accepted. */
export interface Ending {
  readonly since: Date;
  readonly reads: number;
}

/** Number of reads that must give the reason, in addition to the time that it must last (`endEvidenceMs`). */
const END_EVIDENCE_READS = 5;

/** Longest believable lifetime. The example in the interface shows one day; more than a year is taken as meaningless. */
const LONGEST_LIFETIME_MS = 365 * 86_400_000;

/**
 * Returns why time alone ends the watch now, or null. What happens at expiresAt is not specified. A session that the remote service never
 * calls expired gets the same late window after its expiresAt, so that an abandoned session is not read forever.
 */
export function findEnd(session: EndingSession, now: Date, settings: ScheduleSettings): CloseReason | null {
  const isOver = (from: number, windowMs: number) => now.getTime() - from >= windowMs;
  switch (session.phase) {
    case 'settling':
      return isOver(session.anchorAt.getTime(), settings.settleMs) ? 'settled' : null;
    case 'late':
      return isOver(session.anchorAt.getTime(), settings.lateMs) ? 'late_window_over' : null;
    case 'awaiting_owner':
    case 'awaiting_installation':
    case 'unrecognised':
      return isOver(believableEnd(session), settings.lateMs) ? 'late_window_over' : null;
  }
}

/** Returns expiresAt, limited to the year after the start. */
function believableEnd({ expiresAt, recordedAt }: EndingSession): number {
  const start = recordedAt.getTime();
  return Math.min(Math.max(expiresAt.getTime(), start), start + LONGEST_LIFETIME_MS);
}

/**
 * Returns whether a reason to close is accepted now, and the evidence so far. Elapsed time is accepted at once. An assertion of the
 * remote service (`isClaim`: the session is gone, or an expiresAt that may be new) must last, so that a faulty deployment of that service
 * closes nothing. `before` is the evidence up to now.
 */
export function weighEnd(
  reason: CloseReason | null,
  isClaim: boolean,
  before: Ending | null,
  now: Date,
  settings: ScheduleSettings,
): { readonly close: CloseReason | null; readonly ending: Ending | null } {
  if (reason === null) return { close: null, ending: null };
  if (before === null && !isClaim) return { close: reason, ending: null };
  const ending = { since: before?.since ?? now, reads: (before?.reads ?? 0) + 1 };
  const hasLasted = now.getTime() - ending.since.getTime() >= settings.endEvidenceMs;
  return hasLasted && ending.reads >= END_EVIDENCE_READS
    ? { close: reason, ending: null }
    : { close: null, ending };
}
