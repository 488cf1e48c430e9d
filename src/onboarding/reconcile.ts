import type { EventPayloads, NewEvent, SessionFacts } from '../events/catalogue.js';
import { classify, next } from './machine.js';
import type { Basis, Observation, SessionState, Verdict } from './machine.js';
import { phaseOf, planClose } from './schedule.js';
import type { CloseReason, Phase, ScheduleSettings } from './schedule.js';

/** A session as our records hold it, before an answer is applied. */
export interface SessionRecord {
  readonly id: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly tenantReference: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly state: SessionState;
  readonly basis: Basis;
  readonly rule: string;
  readonly startedUpdatedAt: Date;
  readonly expiresAt: Date;
  readonly closedAt: Date | null;
  /** Null when it is no longer watched. */
  readonly phase: Phase | null;
  readonly anchorAt: Date | null;
  readonly inverters: readonly { readonly id: string; readonly missing: boolean }[];
}

/** What a read of a session brought that is worth applying. */
export type Reading =
  | { readonly kind: 'observed'; readonly observation: Observation & { readonly expiresAt: Date } }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'gone' }
  /** No answer, but what the rules of today make of all the answers kept. */
  | { readonly kind: 'rederived'; readonly verdict: Verdict };

/** Everything that a reading changes; events in the order in which they are to be read. */
export interface Decision {
  readonly transition: Verdict | null;
  /** Seen for the first time, or again after having been missing. */
  readonly listed: readonly string[];
  readonly missing: readonly string[];
  /** Why watching ends with this reading. */
  readonly close: CloseReason | null;
  /** How it is watched from now on; null when it is not. */
  readonly watch: { readonly phase: Phase; readonly anchorAt: Date } | null;
  readonly events: readonly NewEvent[];
}

const EVENT_OF_STATE = {
  awaiting_owner: null,
  awaiting_installation: 'session.awaiting_installation',
  online: 'session.online',
  expired: 'session.expired',
  lost: 'session.lost',
  unrecognised: 'session.unrecognised',
} as const satisfies Record<SessionState, keyof EventPayloads | null>;

const GONE: Verdict = { state: 'lost', basis: 'observed', rule: 'not_found_on_every_path' };

/** What `reading` changes about `session` at `now` (the database's clock). */
export function reconcile(
  session: SessionRecord,
  reading: Reading,
  now: Date,
  settings: ScheduleSettings,
): Decision {
  const verdict = verdictOf(session, reading);
  const transition = reading.kind === 'rederived' ? verdict : next(session.state, verdict);
  const state = transition?.state ?? session.state;
  const { listed, missing, present } = compareInverters(session, reading);
  const anchorAt = transition === null ? (session.anchorAt ?? now) : now;
  const expiresAt = reading.kind === 'observed' ? reading.observation.expiresAt : session.expiresAt;
  const close = planEnd(session, state, reading, { anchorAt, expiresAt }, now, settings);
  const watched = session.closedAt === null && close === null && state !== 'lost';
  const watch = watched ? { phase: phaseOf(state), anchorAt } : null;

  const facts = factsOf(session, transition ?? session, session.state, present, now);
  return {
    transition,
    listed,
    missing,
    close,
    watch,
    events: eventsOf(facts, transition, listed, missing, close),
  };
}

function verdictOf(session: SessionRecord, reading: Reading): Verdict {
  switch (reading.kind) {
    case 'observed':
      return classify(reading.observation, session.startedUpdatedAt);
    case 'unchanged':
      return { state: session.state, basis: session.basis, rule: session.rule };
    case 'gone':
      return GONE;
    case 'rederived':
      return reading.verdict;
  }
}

function planEnd(
  session: SessionRecord,
  state: SessionState,
  reading: Reading,
  times: { readonly anchorAt: Date; readonly expiresAt: Date },
  now: Date,
  settings: ScheduleSettings,
): CloseReason | null {
  if (session.closedAt !== null) return null;
  // An online session that is gone stays online, and there is nothing left to watch.
  if (state === 'lost' || reading.kind === 'gone') return 'lost';
  return planClose({ phase: phaseOf(state), ...times }, now, settings);
}

function compareInverters(session: SessionRecord, reading: Reading) {
  const known = new Map(session.inverters.map(({ id, missing }) => [id, missing]));
  if (reading.kind !== 'observed') {
    return {
      listed: [],
      missing: [],
      present: session.inverters.filter((i) => !i.missing).map(({ id }) => id),
    };
  }
  const present = [...new Set(reading.observation.inverters)];
  return {
    listed: present.filter((id) => known.get(id) !== false),
    missing: [...known].filter(([id, missing]) => !missing && !present.includes(id)).map(([id]) => id),
    present,
  };
}

function eventsOf(
  facts: SessionFacts,
  transition: Verdict | null,
  listed: readonly string[],
  missing: readonly string[],
  close: CloseReason | null,
): NewEvent[] {
  const subject = facts.sessionId;
  const entered = transition === null ? null : EVENT_OF_STATE[transition.state];
  return [
    ...(entered === null ? [] : [{ name: entered, subject, data: facts }]),
    ...listed.map((inverterId) => ({
      name: 'inverter.online' as const,
      subject,
      data: { ...facts, inverterId },
    })),
    ...missing.map((inverterId) => ({
      name: 'inverter.missing' as const,
      subject,
      data: { ...facts, inverterId },
    })),
    ...(close === null
      ? []
      : [{ name: 'session.closed' as const, subject, data: { ...facts, reason: close } }]),
  ];
}

/** The event that announces a started session. */
export function startedEvent(session: SessionRecord, now: Date): NewEvent {
  const inverters = session.inverters.map(({ id }) => id);
  return {
    name: 'session.started',
    subject: session.id,
    data: factsOf(session, session, null, inverters, now),
  };
}

/** The event that announces that a watched session is read no more, its user having been erased. */
export function erasedEvent(session: SessionRecord, now: Date): NewEvent {
  const facts = factsOf(session, session, session.state, [], now);
  const data = { ...facts, tenantReference: null, metadata: {}, reason: 'erased' };
  return { name: 'session.closed', subject: session.id, data };
}

function factsOf(
  session: SessionRecord,
  { state, basis, rule }: Verdict,
  previousState: SessionState | null,
  inverters: readonly string[],
  now: Date,
): SessionFacts {
  const { id: sessionId, userId, gridLocationId, tenantReference, brand, metadata } = session;
  const observedAt = now.toISOString();
  return {
    sessionId,
    userId,
    gridLocationId,
    tenantReference,
    brand,
    metadata,
    state,
    previousState,
    basis,
    rule,
    inverters,
    observedAt,
  };
}
