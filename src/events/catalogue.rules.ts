/** All events and the fields of their `data`. None may contain an EAN, name, address, startUrl or secret. */

/**
 * Erasing a user empties its events in place. So each field below that identifies a person has an empty value: null, an empty object
 * or an empty list (see erase-events.sql.ts).
 */
interface UserFacts {
  readonly userId: string;
  /** Null once the user has been erased. */
  readonly tenantReference: string | null;
}

interface RegistrationFacts {
  readonly registrationId: string;
  /** Null after an erasure. */
  readonly tenantReference: string | null;
  /** The reason given by the remote service or by our own check, redacted. */
  readonly reason: string;
}

/** How many of each were emptied or deleted. */
export interface ErasedCounts {
  readonly gridLocations: number;
  readonly registrations: number;
  readonly sessions: number;
  /** Stored responses of the remote service. */
  readonly observations: number;
  readonly inverters: number;
  readonly events: number;
}

interface ErasureFacts {
  readonly erasureId: string;
  /** Null if only registrations were erased that had not become a user. */
  readonly userId: string | null;
  /** The deleted registrations. Readers use these ids to find their copies of registration events. */
  readonly registrationIds: readonly string[];
  /** ISO 8601, UTC. */
  readonly erasedAt: string;
  readonly erased: ErasedCounts;
}

export interface SessionFacts {
  readonly sessionId: string;
  readonly userId: string;
  readonly gridLocationId: string;
  /** Null once the user has been erased. */
  readonly tenantReference: string | null;
  readonly brand: string | null;
  /** Empty once the user has been erased. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly previousState: string | null;
  readonly basis: 'observed' | 'inferred';
  /** The name of the rule that led to the state; see onboarding/rules/machine.rules.ts. */
  readonly rule: string;
  /** Ids of the first 100 inverters that the session lists now; empty once the user has been erased. */
  readonly inverters: readonly string[];
  /** How many inverters the session lists now. */
  readonly invertersTotal: number;
  /** ISO 8601, UTC. */
  readonly observedAt: string;
}

/** Without `inverters`, because the total size would grow with the square of the number of inverters. */
interface InverterFacts extends Omit<SessionFacts, 'inverters'> {
  /** Null once the user has been erased. */
  readonly inverterId: string | null;
}

/** A class of remote operations; the subject of every event about it. */
interface RemoteFacts {
  readonly operation: 'token' | 'register_user' | 'start_session' | 'read_session';
}

interface RemoteTrouble extends RemoteFacts {
  /** Redacted. */
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly since: string;
}

interface RemoteRecovery extends RemoteFacts {
  /** What it has recovered from. `since` is when that began. */
  readonly from: 'degraded' | 'credentials_rejected';
  readonly since: string;
  readonly recoveredAt: string;
}

/** Field names and types, never a value; see remote/drift/drift.ts. */
interface ContractDriftFacts extends RemoteFacts {
  readonly kind:
    'new_field' | 'missing_field' | 'other_type' | 'undescribed_flags' | 'token_form' | 'foreign_id';
  /** The path of the field, such as `inverters[].id`; for `undescribed_flags`, the flags. */
  readonly field: string;
  readonly expected: string | null;
  readonly found: string | null;
  readonly observedAt: string;
}

interface DisabledEndpointFacts {
  readonly endpointId: string;
  /** gone: it responded with 410. failing: every attempt has failed for days. */
  readonly reason: 'gone' | 'failing';
  /** When it began to fail; ISO 8601, UTC. */
  readonly since: string;
}

export interface EventPayloads {
  'user.registered': UserFacts & { readonly gridLocationIds: readonly string[] };
  'user.registration_rejected': RegistrationFacts;
  'user.registration_uncertain': RegistrationFacts;
  'user.erased': ErasureFacts;
  'session.started': SessionFacts;
  'session.awaiting_installation': SessionFacts;
  'session.online': SessionFacts;
  'session.expired': SessionFacts;
  'session.lost': SessionFacts;
  'session.unrecognised': SessionFacts;
  'session.closed': SessionFacts & { readonly reason: string };
  'session.reopened': SessionFacts;
  'session.flapping': SessionFacts;
  'inverter.online': InverterFacts;
  'inverter.missing': InverterFacts;
  'remote.degraded': RemoteTrouble;
  'remote.recovered': RemoteRecovery;
  'remote.credentials_rejected': RemoteTrouble;
  'remote.contract_drift': ContractDriftFacts;
  'webhook_endpoint.disabled': DisabledEndpointFacts;
}

export type EventName = keyof EventPayloads;

/**
 * An event to be appended to the outbox. Events are ordered by `subject`: the id of the session, else of the user, registration or
 * erasure. For an event about the remote service it is the class of operations; for one about a webhook endpoint, the id of the
 * endpoint.
 */
export type NewEvent = {
  [N in EventName]: { readonly name: N; readonly subject: string; readonly data: EventPayloads[N] };
}[EventName];

/** The event names at run time, for parsing text. */
export const EVENT_NAMES = Object.keys({
  'user.registered': true,
  'user.registration_rejected': true,
  'user.registration_uncertain': true,
  'user.erased': true,
  'session.started': true,
  'session.awaiting_installation': true,
  'session.online': true,
  'session.expired': true,
  'session.lost': true,
  'session.unrecognised': true,
  'session.closed': true,
  'session.reopened': true,
  'session.flapping': true,
  'inverter.online': true,
  'inverter.missing': true,
  'remote.degraded': true,
  'remote.recovered': true,
  'remote.credentials_rejected': true,
  'remote.contract_drift': true,
  'webhook_endpoint.disabled': true,
} satisfies Record<EventName, true>) as readonly EventName[];

export const isEventName = (text: string): text is EventName =>
  (EVENT_NAMES as readonly string[]).includes(text);
