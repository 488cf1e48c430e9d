import type { Evidence } from './cause.rules.js';

export interface Stall<Code extends string = string> {
  readonly cause: Code;
  /** When the trouble began. It counts as a stall only later, after a threshold. */
  readonly since: Date;
  readonly evidence: Evidence;
}

/** The result of a rule: the stall of the subject, if any, and when it may be another. */
export interface Look<Code extends string = string> {
  readonly stall: Stall<Code> | null;
  /** Null: only a change of the subject can change the result. */
  readonly lookAgainAt: Date | null;
}

/** A stall that counts from an instant on (default: `since`), and may end at another. */
export interface Candidate<Code extends string = string> extends Stall<Code> {
  readonly from?: Date;
  readonly until?: Date;
}

/**
 * Returns the first candidate that counts at `now`, and when a candidate of the same or a greater importance begins or ends. `lookAgainAt`:
 * when the facts may change without a change of the subject.
 */
export function look<Code extends string>(
  candidates: readonly (Candidate<Code> | false | null)[],
  now: Date,
  lookAgainAt: Date | null = null,
): Look<Code> {
  const possible = candidates
    .filter((each) => !!each)
    .filter(({ until }) => until === undefined || until > now);
  const index = possible.findIndex(({ since, from = since }) => from <= now);
  const decisive = possible.slice(0, index === -1 ? undefined : index + 1);
  const changes = decisive.flatMap(({ since, from = since, until }) => (from > now ? from : (until ?? [])));
  const times = [...changes, lookAgainAt ?? []].flat().map((at) => at.getTime());
  const found = possible[index];
  return {
    stall: found === undefined ? null : { cause: found.cause, since: found.since, evidence: found.evidence },
    lookAgainAt: times.length === 0 ? null : new Date(Math.min(...times)),
  };
}

export const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms);
export const inSeconds = (ms: number): number => ms / 1_000;
