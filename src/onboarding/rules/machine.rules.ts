/**
 * The meaning of a session's flags. The interface (section 3) shows three situations; every other combination of flags is possible on the
 * wire and described nowhere. So the state is a pure function of one observation and of the start, decided by the first matching rule
 * below. What no rule describes is `unrecognised`: recorded completely, announced, still watched, never guessed.
 *
 * - `awaiting_owner`: entered at the start, and nothing has changed since. The PV owner has the startUrl.
 * - `awaiting_installation`: inferred, since no flag states that the owner has finished the web flow. Normally left for `online` or
 *   `expired`.
 * - `online`: finished, with at least one inverter. No later response leaves it: one that states less changes the inverters, not the
 *   state.
 * - `expired`: the remote service says so. An installation may still come online late, so the session is watched for a while longer.
 * - `lost`: the remote service repeatedly returned 404 or 410 on every path shape. Not a rule over flags, since there are none: see
 *   reconcile.rules.ts. Left when the remote service knows the session again.
 * - `unrecognised`: flags that the interface does not describe, or more inverters than a session can have. Left at the first response
 *   that it does describe.
 */
export const SESSION_STATES = [
  'awaiting_owner',
  'awaiting_installation',
  'online',
  'expired',
  'lost',
  'unrecognised',
] as const;

export type SessionState = (typeof SESSION_STATES)[number];

/** Whether the remote service stated it, or we conclude it from what it stated. */
export type Basis = 'observed' | 'inferred';

/** The content of one response about a session (interface section 2.5). */
export interface Observation {
  readonly finished: boolean;
  readonly active: boolean;
  /** Null if absent, as in the response to a start. */
  readonly expired: boolean | null;
  readonly updatedAt: Date;
  readonly inverters: readonly string[];
}

/** The classification of a session: its state, whether it is observed or inferred, and the rule. */
export interface Verdict<State extends SessionState = SessionState> {
  readonly state: State;
  readonly basis: Basis;
  readonly rule: string;
}

/** The states that flags can express. */
export type FlaggedState = Exclude<SessionState, 'lost'>;

interface Rule extends Verdict<FlaggedState> {
  readonly holds: (seen: Observation, startedUpdatedAt: Date) => boolean;
}

/**
 * Maximum number of inverters in one session. A location has tens, a large roof with one per panel some hundreds. Each costs a row and an
 * event, so a list of thousands is treated as an error of the remote service.
 */
export const MAX_INVERTERS = 1_000;

const isOpen = (seen: Observation) => !seen.finished && seen.active && seen.expired !== true;

/** The first rule that matches decides; the last rule always matches. */
export const RULES: readonly Rule[] = [
  {
    rule: 'too_many_inverters',
    state: 'unrecognised',
    basis: 'observed',
    holds: (seen) => seen.inverters.length > MAX_INVERTERS,
  },
  {
    rule: 'finished_with_inverters',
    state: 'online',
    basis: 'observed',
    holds: (seen) => seen.finished && seen.inverters.length > 0,
  },
  { rule: 'expired_flag', state: 'expired', basis: 'observed', holds: (seen) => seen.expired === true },
  {
    rule: 'inverters_before_finished',
    state: 'awaiting_installation',
    basis: 'inferred',
    holds: (seen) => isOpen(seen) && seen.inverters.length > 0,
  },
  {
    rule: 'updated_since_start',
    state: 'awaiting_installation',
    basis: 'inferred',
    holds: (seen, startedUpdatedAt) =>
      isOpen(seen) && seen.updatedAt.getTime() !== startedUpdatedAt.getTime(),
  },
  { rule: 'as_started', state: 'awaiting_owner', basis: 'observed', holds: isOpen },
  { rule: 'undescribed_flags', state: 'unrecognised', basis: 'observed', holds: () => true },
];

/** Returns what the flags of one response mean by themselves. `startedUpdatedAt` is the updatedAt of the response to the start. */
export function classify(seen: Observation, startedUpdatedAt: Date): Verdict<FlaggedState> {
  const { state, basis, rule } = RULES.find(({ holds }) => holds(seen, startedUpdatedAt))!;
  return { state, basis, rule };
}

/** Returns the transition from `previous` to `verdict`, or null if there is none. */
export function next(previous: SessionState | null, verdict: Verdict): Verdict | null {
  if (previous === 'online' || previous === verdict.state) return null;
  return verdict;
}

/** The states in which the web flow is open and its startUrl usable. */
export const OPEN_STATES: readonly SessionState[] = ['awaiting_owner', 'awaiting_installation'];

/** Returns the transitions that responses can cause, for the diagram in docs/states.md; `lost` is entered from any state but online. */
export function transitionsOfMachine(): (readonly [SessionState, SessionState])[] {
  const reachable = [...new Set([...RULES.map(({ state }) => state), 'lost' as const])];
  return SESSION_STATES.filter((from) => from !== 'online').flatMap((from) =>
    reachable.filter((to) => to !== from).map((to) => [from, to] as const),
  );
}
