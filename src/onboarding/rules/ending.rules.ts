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

/** The time since which there has been a reason to close the session, and the number of consecutive reads with a reason. */
export interface EndEvidence {
  readonly endingSince: Date | null;
  readonly endingReads: number;
}

export const NO_EVIDENCE: EndEvidence = { endingSince: null, endingReads: 0 };

/** How many consecutive reads must give a reason to close. The reason must also last for `endEvidenceMs`. */
const END_EVIDENCE_READS = 5;

/** The longest plausible lifetime of a session. The interface's example shows one day. */
const LONGEST_LIFETIME_MS = 365 * 86_400_000;

/** Returns why the watch is over at `now`, else null. In a phase other than `settling` and `late`, the late window starts at expiresAt. */
export function findEnd(session: EndingSession, now: Date, settings: ScheduleSettings): CloseReason | null {
  const isOver = (from: number, windowMs: number) => now.getTime() - from >= windowMs;
  switch (session.phase) {
    case 'settling':
      return isOver(session.anchorAt.getTime(), settings.settleMs) ? 'settled' : null;
    // A setting of 0 ends the watch of the sessions that have been in it.
    case 'watching':
      return settings.watchMs === 0 ? 'settled' : null;
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

/** Decides whether to close a session now for `reason`, or to add this read to the evidence. `before` is the earlier evidence. */
// Elapsed time closes a session at once. A reason from the remote service must last (`mustLast`), since it may be a fault.
export function weighEnd(
  reason: CloseReason | null,
  mustLast: boolean,
  before: EndEvidence,
  now: Date,
  settings: ScheduleSettings,
): { readonly close: CloseReason | null; readonly evidence: EndEvidence } {
  if (reason === null || (before.endingSince === null && !mustLast))
    return { close: reason, evidence: NO_EVIDENCE };
  const endingSince = before.endingSince ?? now;
  const endingReads = before.endingReads + 1;
  const hasLasted = now.getTime() - endingSince.getTime() >= settings.endEvidenceMs;
  return hasLasted && endingReads >= END_EVIDENCE_READS
    ? { close: reason, evidence: NO_EVIDENCE }
    : { close: null, evidence: { endingSince, endingReads } };
}
