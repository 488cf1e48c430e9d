import type { EventPayloads, NewEvent, SessionFacts } from '../../events/catalogue.rules.js';
import type { CloseReason } from './ending.rules.js';
import type { Basis, SessionState, Verdict } from './machine.rules.js';

/** The part of a session that events contain. */
export interface EventSubject {
  readonly id: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly tenantReference: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly state: SessionState;
  readonly basis: Basis;
  readonly rule: string;
}

export interface InverterChanges {
  /** Seen for the first time, or again after being missing. */
  readonly listed: readonly string[];
  readonly missing: readonly string[];
  /** Recorded inverters that are online after the reading. */
  readonly present: readonly string[];
}

export interface SessionChange {
  readonly transition: Verdict | null;
  readonly inverters: InverterChanges;
  readonly close: CloseReason | null;
  readonly isReopened: boolean;
}

const EVENT_OF_STATE = {
  awaiting_owner: null,
  awaiting_installation: 'session.awaiting_installation',
  online: 'session.online',
  expired: 'session.expired',
  lost: 'session.lost',
  unrecognised: 'session.unrecognised',
} as const satisfies Record<SessionState, keyof EventPayloads | null>;

/** Maximum number of inverter ids in an event of a session. The session itself lists all of them. */
const INVERTERS_PER_EVENT = 100;

/** Returns the events of a change, in the order of their publication. */
export function changeEvents(
  facts: SessionFacts,
  { transition, inverters, close, isReopened }: SessionChange,
): NewEvent[] {
  const subject = facts.sessionId;
  const entered = transition === null ? null : EVENT_OF_STATE[transition.state];
  // Only events of the session contain the list: repeated for each inverter, it would grow with the square of their number.
  const { inverters: _, ...inverterFacts } = facts;
  const ofInverter = (name: 'inverter.online' | 'inverter.missing') => (inverterId: string) =>
    ({ name, subject, data: { ...inverterFacts, inverterId } }) as const;
  return [
    ...(isReopened ? [{ name: 'session.reopened' as const, subject, data: facts }] : []),
    ...(entered === null ? [] : [{ name: entered, subject, data: facts }]),
    ...inverters.listed.map(ofInverter('inverter.online')),
    ...inverters.missing.map(ofInverter('inverter.missing')),
    ...(close === null
      ? []
      : [{ name: 'session.closed' as const, subject, data: { ...facts, reason: close } }]),
  ];
}

/** Returns the event that stands for all held-back changes of a session. */
export const flappingEvent = (facts: SessionFacts): NewEvent => ({
  name: 'session.flapping',
  subject: facts.sessionId,
  data: facts,
});

/** Returns the event of a started session, which lists no inverters yet. */
export function startedEvent(session: EventSubject, now: Date): NewEvent {
  return { name: 'session.started', subject: session.id, data: factsOf(session, session, null, [], now) };
}

/** Returns the event that ends the watch of a session because its user has been erased. */
export function erasedEvent(session: EventSubject, now: Date): NewEvent {
  const facts = factsOf(session, session, session.state, [], now);
  const data = { ...facts, tenantReference: null, metadata: {}, reason: 'erased' };
  return { name: 'session.closed', subject: session.id, data };
}

export function factsOf(
  session: EventSubject,
  { state, basis, rule }: Verdict,
  previousState: SessionState | null,
  inverters: readonly string[],
  now: Date,
): SessionFacts {
  const { id: sessionId, userId, gridLocationId, tenantReference, brand, metadata } = session;
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
    inverters: inverters.slice(0, INVERTERS_PER_EVENT),
    invertersTotal: inverters.length,
    observedAt: now.toISOString(),
  };
}
