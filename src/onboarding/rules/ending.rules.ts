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

/** A reason to close that has been seen on consecutive reads, and is not believed yet. */
export interface Ending {
  readonly since: Date;
  readonly reads: number;
}

/** How many reads must give the reason, beside the time that it must last (`endEvidenceMs`). */
const END_EVIDENCE_READS = 5;

/** The sample of the interface shows a lifetime of one day. What claims more than a year is taken to say nothing. */
const LONGEST_LIFETIME_MS = 365 * 86_400_000;

/**
 * Returns why time alone ends the watch now, or null. What happens at expiresAt is not specified: a session that the remote service
 * never calls expired is given the same late window after its expiresAt, so that an abandoned one is not read for ever.
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

/** A session does not expire before it was started, nor a year later, whatever the remote service says. */
function believableEnd({ expiresAt, recordedAt }: EndingSession): number {
  const start = recordedAt.getTime();
  return Math.min(Math.max(expiresAt.getTime(), start), start + LONGEST_LIFETIME_MS);
}

/**
 * Returns whether a reason to close is believed now. Time that passes is; a claim of the remote service (that the session is gone, or
 * an expiresAt that it may not have said for long) must last, so that a deployment of it that sends nonsense closes nothing. `before` is the evidence so far.
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
