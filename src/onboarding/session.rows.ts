import type { SessionState, Verdict } from './machine.js';
import type { KeptAnswer } from './read-plan.js';
import type { Decision, Reading, SessionRecord } from './reconcile.js';

export interface AppliedReading {
  readonly sessionId: string;
  readonly reading: Reading;
  /** Kept when it differs from the answer before; null when there is nothing new to keep. */
  readonly answer: KeptAnswer | null;
}

export interface LockedSession extends SessionRecord {
  readonly batchId: string | null;
  readonly now: Date;
}

/** A session, what was read of it, and what that changes. */
export interface Move {
  readonly session: LockedSession;
  readonly reading: AppliedReading;
  readonly decision: Decision;
}

// The rows below go to the server as JSON, under the names that the statements of sessions.sql.ts take them by.

export const observationRow = (sessionId: string, source: 'start' | 'read', answer: KeptAnswer) => ({
  session_id: sessionId,
  source,
  http_status: answer.httpStatus,
  body: answer.body,
  hash: answer.hash,
});

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
    at: session.now,
  };
}
