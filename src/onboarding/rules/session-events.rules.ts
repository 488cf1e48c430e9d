import type { EventPayloads, NewEvent, SessionFacts } from '../../events/catalogue.rules.js';
import type { CloseReason } from './ending.rules.js';
import type { SessionState, Classification } from './machine.rules.js';

/** The part of a session that events contain. */
export interface EventSubject extends Classification {
  readonly id: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly tenantReference: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Maximum number of inverter ids in an event of a session. The session itself lists all of them. */
const INVERTERS_PER_EVENT = 100;

export interface SessionChange {
  readonly transition: Classification | null;
  /** Inverters seen for the first time, or again after they were missing. */
  readonly listed: readonly string[];
  readonly missing: readonly string[];
  /** Why the session is no longer watched from now on, or null. */
  readonly close: CloseReason | null;
  /** Whether a closed session is watched again. */
  readonly isReopened: boolean;
}

/** Returns the events of a change, in the order of their publication. */
export function changeEvents(
  facts: SessionFacts,
  { transition, listed, missing, close, isReopened }: SessionChange,
): NewEvent[] {
  // An event of an inverter omits the list of inverters. With the list in every event, the total size would grow quadratically.
  const { inverters: _, ...inverterFacts } = facts;
  return [
    ...(isReopened ? [event('session.reopened', facts)] : []),
    ...(transition === null ? [] : [event(`session.${transition.state}`, facts)]),
    ...listed.map((inverterId) => event('inverter.online', { ...inverterFacts, inverterId })),
    ...missing.map((inverterId) => event('inverter.missing', { ...inverterFacts, inverterId })),
    ...(close === null ? [] : [event('session.closed', { ...facts, reason: close })]),
  ];
}

/** Returns the one event for all held-back changes of a session. */
export const flappingEvent = (facts: SessionFacts): NewEvent => event('session.flapping', facts);

export const startedEvent = (session: EventSubject, now: Date): NewEvent =>
  event('session.started', factsOf(session, session, null, [], now));

export const erasedEvent = (session: EventSubject, now: Date): NewEvent =>
  event('session.closed', { ...erasedFacts(session, now), reason: 'erased' });

function erasedFacts(session: EventSubject, now: Date): SessionFacts {
  return { ...factsOf(session, session, session.state, [], now), tenantReference: null, metadata: {} };
}

type SessionEvent = Extract<NewEvent, { readonly data: { readonly sessionId: string } }>['name'];

const event = <N extends SessionEvent>(name: N, data: EventPayloads[N]) =>
  ({ name, subject: data.sessionId, data }) as NewEvent;

export function factsOf(
  session: EventSubject,
  { state, basis, rule }: Classification,
  previousState: SessionState | null,
  inverters: readonly string[],
  now: Date,
): SessionFacts {
  const { id: sessionId, userId, gridLocationId, tenantReference, brand, metadata } = session;
  const subject = { sessionId, userId, gridLocationId, tenantReference, brand, metadata };
  const classified = { state, previousState, basis, rule };
  return {
    ...subject,
    ...classified,
    inverters: inverters.slice(0, INVERTERS_PER_EVENT),
    invertersTotal: inverters.length,
    observedAt: now.toISOString(),
  };
}
