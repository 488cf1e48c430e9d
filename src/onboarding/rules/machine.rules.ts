/**
 * What a session's flags mean. The interface (section 3) shows three situations; every other combination of flags is possible on
 * the wire and explained nowhere. So the state is a pure function of one observation and of the start, by the first rule below
 * that holds, and what no rule describes is `unrecognised`: kept whole, announced, watched on, never guessed.
 *
 * - `awaiting_owner`: entered at the start. The PV owner has the startUrl; nothing moved since.
 * - `awaiting_installation`: inferred, since no flag says that the owner has finished the web flow. Left when it comes online or expires.
 * - `online`: at least one inverter is online. Never left: a later answer that says less changes inverters, not the state.
 * - `expired`: the remote service says so. An installation may still come online late, so it is watched on for a while.
 * - `lost`: answered 404/410 repeatedly on every path shape. Not a rule over flags, since there are none: see reconcile.ts. Left when
 *   the remote service knows the session again.
 * - `unrecognised`: flags that the interface does not describe, or more inverters than a session can have. Left as soon as a response
 *   is one that it does.
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

/** Whether the remote service said so, or we conclude it from what it said. */
export type Basis = 'observed' | 'inferred';

/** What one answer says about a session (interface section 2.5). */
export interface Observation {
  readonly finished: boolean;
  readonly active: boolean;
  /** Absent in the start answer: null. */
  readonly expired: boolean | null;
  readonly updatedAt: Date;
  readonly inverters: readonly string[];
}

/** What a session is, whether we know or conclude it, and by which rule. */
export interface Verdict<State extends SessionState = SessionState> {
  readonly state: State;
  readonly basis: Basis;
  readonly rule: string;
}

/** The states that flags can say. */
export type FlaggedState = Exclude<SessionState, 'lost'>;

interface Rule extends Verdict<FlaggedState> {
  readonly holds: (seen: Observation, startedUpdatedAt: Date) => boolean;
}

/**
 * What one session may list. A location has tens of inverters, a large roof with one for each panel some hundreds; each of them costs
 * a row and an event, so a list of thousands is taken for an error of the remote service.
 */
export const MAX_INVERTERS = 1_000;

const isOpen = (seen: Observation) => !seen.finished && seen.active && seen.expired !== true;

/** The first rule that holds decides; the last rule always holds. */
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

/** What the flags of one answer mean by themselves. `startedUpdatedAt` is the updatedAt of the start answer. */
export function classify(seen: Observation, startedUpdatedAt: Date): Verdict<FlaggedState> {
  const { state, basis, rule } = RULES.find(({ holds }) => holds(seen, startedUpdatedAt))!;
  return { state, basis, rule };
}

/** The transition from `previous` that `verdict` makes, or null where it makes none. */
export function next(previous: SessionState | null, verdict: Verdict): Verdict | null {
  if (previous === 'online' || previous === verdict.state) return null;
  return verdict;
}

/** While the web flow is open its startUrl is of use. */
export const OPEN_STATES: readonly SessionState[] = ['awaiting_owner', 'awaiting_installation'];

/** The transitions that answers can cause, for the diagram in the README; `lost` is entered from any state but online. */
export function transitionsOfMachine(): (readonly [SessionState, SessionState])[] {
  const reachable = [...new Set([...RULES.map(({ state }) => state), 'lost' as const])];
  return SESSION_STATES.filter((from) => from !== 'online').flatMap((from) =>
    reachable.filter((to) => to !== from).map((to) => [from, to] as const),
  );
}
