import { classify, next } from './machine.rules.js';
import type { Observation, SessionState, Verdict } from './machine.rules.js';

/** A recorded response as the rules see it; null for a 404 or 410. */
export type ReplayedAnswer = Observation | null;

export interface SessionHistory {
  readonly id: string;
  readonly state: SessionState;
  readonly rule: string;
  readonly startedUpdatedAt: Date;
  /** Oldest first. */
  readonly answers: readonly ReplayedAnswer[];
}

export interface RederivedChange {
  readonly id: string;
  readonly from: SessionState;
  readonly verdict: Verdict;
}

/** A 404 or 410 is recorded only after LOST_AFTER_READS reads. */
const LOST: Verdict = { state: 'lost', basis: 'observed', rule: 'not_found_on_every_path' };

/** Returns the state that the current rules derive from a session's history, if it differs from the present state; else null. */
export function planRederivation({
  id,
  state: from,
  startedUpdatedAt,
  answers,
}: SessionHistory): RederivedChange | null {
  const verdict = answers.reduce<Verdict | null>((last, answer) => {
    const said = answer === null ? LOST : classify(answer, startedUpdatedAt);
    return next(last?.state ?? null, said) ?? last;
  }, null);
  return verdict === null || verdict.state === from ? null : { id, from, verdict };
}
