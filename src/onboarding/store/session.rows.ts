import type { SessionState, Verdict } from '../rules/machine.rules.js';
import type { KeptAnswer } from '../rules/read-plan.rules.js';
import type { Decision, Reading, SessionRecord, Watch } from '../rules/reconcile.rules.js';

export interface AppliedReading {
  readonly sessionId: string;
  readonly reading: Reading;
  /** Recorded if it differs from the previous response; null if there is nothing new to record. */
  readonly answer: KeptAnswer | null;
}

export interface LockedSession extends SessionRecord {
  readonly batchId: string | null;
  readonly now: Date;
}

/** A session, what was read of it, and the resulting decision. */
export interface Move {
  readonly session: LockedSession;
  readonly reading: AppliedReading;
  readonly decision: Decision;
}

// The rows below go to the server as JSON, under the names that the statements of sessions.sql.ts expect.

export const observationRow = (sessionId: string, source: 'start' | 'read', answer: KeptAnswer) => ({
  session_id: sessionId,
  source,
  http_status: answer.httpStatus,
  body: answer.body,
  hash: answer.hash,
});

/** Returns whether the response becomes an observation of its own. */
export const addsAnswer = ({ reading: { reading, answer }, decision }: Move): boolean =>
  answer !== null && reading.kind !== 'unchanged' && decision.isRecorded;

/** Returns whether the response replaces the last observation, from which it differs in no fact. */
export const replacesAnswer = ({ reading: { reading, answer } }: Move): boolean =>
  answer !== null && reading.kind === 'unchanged';

export const answerRow = ({ session, reading }: Move) => observationRow(session.id, 'read', reading.answer!);

export function pollRow(move: Move, watch: Watch, nextMs: number) {
  const { answer } = move.reading;
  return {
    session_id: move.session.id,
    batch_id: move.session.batchId,
    phase: watch.phase,
    anchor_at: watch.anchorAt,
    ending_since: watch.ending?.since ?? null,
    ending_reads: watch.ending?.reads ?? 0,
    changes_clear_at: watch.changesClearAt,
    flapping_since: watch.flappingSince,
    kept: addsAnswer(move) || replacesAnswer(move),
    hash: answer?.hash ?? null,
    facts_hash: answer?.factsHash ?? null,
    next_ms: nextMs,
  };
}

export const transitionRow = (
  sessionId: string,
  from: SessionState | null,
  { state, basis, rule }: Verdict,
  observationId: string | null,
  at: Date,
) => ({
  session_id: sessionId,
  from_state: from,
  to_state: state,
  basis,
  rule,
  observation_id: observationId,
  at,
});

export function moveRow({ session, reading: { reading }, decision }: Move) {
  const { state, basis, rule } = decision.transition ?? session;
  const observed = reading.kind === 'observed' ? reading.observation : null;
  return {
    session_id: session.id,
    from_state: session.state,
    to_state: state,
    basis,
    rule,
    observed: observed !== null,
    finished: observed?.finished ?? null,
    active: observed?.active ?? null,
    expired: observed?.expired ?? null,
    updated_ms: observed?.updatedAt.getTime() ?? null,
    expires_ms: observed?.expiresAt.getTime() ?? null,
    close_reason: decision.close,
    is_reopened: decision.isReopened,
    at: session.now,
  };
}
