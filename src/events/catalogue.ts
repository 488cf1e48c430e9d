/** Every event there is, with what its `data` holds. No EAN, name, address, startUrl or secret may stand in any of them. */

interface UserFacts {
  readonly userId: string;
  readonly tenantReference: string;
}

interface RegistrationFacts {
  readonly registrationId: string;
  readonly tenantReference: string;
  /** What the remote service or our own check said, redacted. */
  readonly reason: string;
}

export interface SessionFacts {
  readonly sessionId: string;
  readonly userId: string;
  readonly gridLocationId: string;
  readonly tenantReference: string;
  readonly brand: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly previousState: string | null;
  readonly basis: 'observed' | 'inferred';
  /** The name of the rule that led here; the table of rules stands in onboarding/machine.ts. */
  readonly rule: string;
  /** Ids of the inverters that the session lists now. */
  readonly inverters: readonly string[];
  /** ISO 8601, UTC. */
  readonly observedAt: string;
}

export interface EventPayloads {
  'user.registered': UserFacts & { readonly gridLocationIds: readonly string[] };
  'user.registration_rejected': RegistrationFacts;
  'user.registration_uncertain': RegistrationFacts;
  'session.started': SessionFacts;
  'session.awaiting_installation': SessionFacts;
  'session.online': SessionFacts;
  'session.expired': SessionFacts;
  'session.lost': SessionFacts;
  'session.unrecognised': SessionFacts;
  'session.closed': SessionFacts & { readonly reason: string };
  'inverter.online': SessionFacts & { readonly inverterId: string };
  'inverter.missing': SessionFacts & { readonly inverterId: string };
}

export type EventName = keyof EventPayloads;

/** An event on its way into the outbox. `subject` is the id that orders it: of the session, else of the user or registration. */
export type NewEvent = {
  [N in EventName]: { readonly name: N; readonly subject: string; readonly data: EventPayloads[N] };
}[EventName];

/** The names at run time, for what arrives as text. */
export const EVENT_NAMES = Object.keys({
  'user.registered': true,
  'user.registration_rejected': true,
  'user.registration_uncertain': true,
  'session.started': true,
  'session.awaiting_installation': true,
  'session.online': true,
  'session.expired': true,
  'session.lost': true,
  'session.unrecognised': true,
  'session.closed': true,
  'inverter.online': true,
  'inverter.missing': true,
} satisfies Record<EventName, true>) as readonly EventName[];

export const isEventName = (text: string): text is EventName =>
  (EVENT_NAMES as readonly string[]).includes(text);
