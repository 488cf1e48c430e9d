import type { SESSION_STATES } from '../../events/event-schemas.rules.js';

/**
 * The state of a session is a pure function of one observation and of the session's start: the first matching rule below decides. The
 * interface (section 3) describes only three combinations of flags; the rules cover all.
 *
 * - `awaiting_owner`: the session has not changed since its start. The PV owner has the startUrl.
 * - `awaiting_installation`: the owner has finished the web flow. This is inferred, since no flag states it.
 * - `online`: finished, with at least one inverter. No later response changes this state, only the inverters.
 * - `expired`: the remote service has set this flag. The session is watched a while longer, since an installation may still come online.
 * - `lost`: 404, 410 or a refusal on every path in several reads. The session leaves this state when the remote service returns it again.
 * - `unrecognised`: flags that the interface does not describe, or too many inverters. The session is still watched. It leaves this state
 *   with the first response that matches another rule.
 */
export type SessionState = (typeof SESSION_STATES)[number];

/** Whether the remote service stated the state, or we inferred it. */
export type Basis = 'observed' | 'inferred';

/** The content of one response about a session (interface section 2.5). */
export interface Observation {
  readonly finished: boolean;
  readonly active: boolean;
  /** Null if absent, as in the response to a start. */
  readonly expired: boolean | null;
  readonly updatedAt: Date;
  /** Null if absent: the response says nothing about the inverters. */
  readonly inverters: readonly string[] | null;
}

/** The state of a session, its basis, and the rule that decided the state. */
export interface Classification<State extends SessionState = SessionState> {
  readonly state: State;
  readonly basis: Basis;
  readonly rule: string;
}

type FlaggedState = Exclude<SessionState, 'lost'>;

type Holds = (seen: Observation, startedUpdatedAt: Date) => boolean;

/** Maximum number of inverters in one session. A large roof has hundreds; a longer list counts as an error of the remote service. */
export const MAX_INVERTERS = 1_000;

const isOpen = (seen: Observation) => !seen.finished && seen.active && seen.expired !== true;
const countOf = ({ inverters }: Observation) => inverters?.length ?? 0;
const lists = (seen: Observation) => countOf(seen) > 0;
/** An `updatedAt` before the start is a fault of the remote service, not an update by the owner. */
const isUpdated: Holds = ({ updatedAt }, startedAt) => updatedAt.getTime() > startedAt.getTime();

/** No flag states that the owner has finished the web flow. The remote service states everything else. */
const rule = (name: string, state: FlaggedState, holds: Holds) =>
  ({ rule: name, state, basis: state === 'awaiting_installation' ? 'inferred' : 'observed', holds }) as const;

/** The first rule that matches decides; the last rule always matches. */
export const RULES = [
  rule('too_many_inverters', 'unrecognised', (seen) => countOf(seen) > MAX_INVERTERS),
  rule('finished_with_inverters', 'online', (seen) => seen.finished && lists(seen)),
  rule('expired_flag', 'expired', (seen) => seen.expired === true),
  rule('inverters_before_finished', 'awaiting_installation', (seen) => isOpen(seen) && lists(seen)),
  rule('updated_since_start', 'awaiting_installation', (seen, at) => isOpen(seen) && isUpdated(seen, at)),
  rule('as_started', 'awaiting_owner', isOpen),
  rule('undescribed_flags', 'unrecognised', () => true),
];

/** Classifies a response, whatever the current state. `startedUpdatedAt`: `updatedAt` of the response to the start. Default: of `seen`. */
export function classify(
  seen: Observation,
  startedUpdatedAt: Date = seen.updatedAt,
): Classification<FlaggedState> {
  const { state, basis, rule } = RULES.find(({ holds }) => holds(seen, startedUpdatedAt))!;
  return { state, basis, rule };
}

/** Returns the observation with the last known `expired` if the response has none: an absent flag does not revoke an earlier one. */
export const withKnown = <Seen extends Observation>(seen: Seen, expired: boolean | null): Seen =>
  seen.expired === null ? { ...seen, expired } : seen;

/** Classifies a session with 404, 410, 401 or 403 on every path. lost.rules.ts decides after how many such reads it is `lost`. */
export function classifyGone(status: number): Classification {
  const isRefused = status === 401 || status === 403;
  const rule = isRefused ? 'refused_on_every_path' : 'not_found_on_every_path';
  return { state: 'lost', basis: 'observed', rule };
}

/** Returns the transition from `previous` to `classification`, or null if the state stays the same. `online` always stays the same. */
export function next(previous: SessionState | null, classification: Classification): Classification | null {
  if (previous === 'online' || previous === classification.state) return null;
  return classification;
}

/** The states in which the web flow is open and its startUrl usable. */
export const OPEN_STATES: readonly SessionState[] = ['awaiting_owner', 'awaiting_installation'];
