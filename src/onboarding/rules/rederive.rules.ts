import { classify, next } from './machine.rules.js';
import type { Observation, SessionState, Verdict } from './machine.rules.js';

/** A kept answer as the rules see it; null for one that says that there is no such session. */
export type ReplayedAnswer = Observation | null;

export interface SessionHistory {
  readonly id: string;
  readonly state: SessionState;
  readonly rule: string;
  readonly startedUpdatedAt: Date;
  /** In the order in which they came. */
  readonly answers: readonly ReplayedAnswer[];
}

export interface RederivedChange {
  readonly id: string;
  readonly from: SessionState;
  readonly verdict: Verdict;
}

/** Kept only once it had been answered often enough, see LOST_AFTER_READS. */
const LOST: Verdict = { state: 'lost', basis: 'observed', rule: 'not_found_on_every_path' };

/** What today's rules make of a session's history where that differs from what it is; null where it does not. */
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
