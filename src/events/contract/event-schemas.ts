import type { EventName, EventPayloads } from '../catalogue.rules.js';

interface Described {
  readonly description: string;
}
type TextForm = { readonly format?: 'uuid' | 'date-time'; readonly enum?: readonly (string | null)[] };

/** The JSON Schema that a field of this type must have. The compiler checks the schemas below against the catalogue. */
export type FieldSchema<V> = [V] extends [number]
  ? Described & { readonly type: 'integer'; readonly minimum: 0 }
  : [V] extends [string]
    ? Described & { readonly type: 'string' } & (string extends V
          ? TextForm
          : { readonly enum: readonly V[] })
    : [V] extends [string | null]
      ? Described & { readonly type: readonly ['string', 'null'] } & TextForm
      : [V] extends [readonly (infer E)[]]
        ? Described & { readonly type: 'array'; readonly items: FieldSchema<E> }
        : string extends keyof V
          ? Described & { readonly type: 'object' }
          : Described & ObjectSchema<V>;

/** Every event has every field; a field without a value is null. */
export interface ObjectSchema<T> {
  readonly type: 'object';
  readonly properties: { readonly [K in keyof T]-?: FieldSchema<T[K]> };
}

export interface EventSchema<N extends EventName> {
  /** When the event occurs, as a sentence without its end. */
  readonly when: string;
  readonly subject:
    'session' | 'user' | 'registration' | 'erasure' | 'class of remote operations' | 'webhook endpoint';
  readonly data: ObjectSchema<EventPayloads[N]>;
}

const text = (description: string) => ({ type: 'string', description }) as const;
const uuid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const;
const instant = (description: string) => ({ type: 'string', format: 'date-time', description }) as const;
const textOrNull = (description: string) => ({ type: ['string', 'null'], description }) as const;
const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;
const oneOf = <const V extends string>(description: string, ...values: readonly V[]) =>
  ({ type: 'string', enum: values, description }) as const;
const uuids = (description: string) => ({ type: 'array', items: uuid('One of them'), description }) as const;
const object = <const P>(properties: P) => ({ type: 'object', properties }) as const;

const TENANT_REFERENCE = textOrNull('Your reference of the user; null once it has been erased');
const STATES = [
  'awaiting_owner',
  'awaiting_installation',
  'online',
  'expired',
  'lost',
  'unrecognised',
] as const;

const session = {
  sessionId: uuid('Id of the session, here and at the remote service'),
  userId: uuid('Id of the user, here and at the remote service'),
  gridLocationId: uuid('Id of the grid location, here and at the remote service'),
  tenantReference: TENANT_REFERENCE,
  brand: textOrNull('As given at the start; null when none was'),
  metadata: { type: 'object', description: 'As given at the start; empty once the user has been erased' },
  state: oneOf('What the session is now', ...STATES),
  previousState: {
    type: ['string', 'null'],
    enum: [...STATES, null],
    description: 'What it was before; null at the start',
  },
  basis: oneOf('Whether the remote service says so, or we conclude it', 'observed', 'inferred'),
  rule: text('The name of the rule by which the state was found'),
  inverters: {
    type: 'array',
    items: text('The id of one'),
    description:
      'The inverters that are listed now, 100 at most: `GET /api/v1/onboarding/pv/{sessionId}` has all of them. Empty once the user has been erased',
  },
  invertersTotal: count('How many inverters are listed now'),
  observedAt: instant('When the remote service was read'),
} as const;
const sessionData = object(session);
const { inverters: _, ...sessionWithoutList } = session;
const inverterData = object({
  ...sessionWithoutList,
  inverterId: textOrNull('Id of the inverter; null once the user has been erased'),
});
const registrationData = object({
  registrationId: uuid('Id of the registration'),
  tenantReference: TENANT_REFERENCE,
  reason: text('What the remote service or our own check said, without secrets'),
});
const OPERATION = oneOf(
  'The class of operations; the same as the subject',
  'token',
  'register_user',
  'start_session',
  'read_session',
);
const troubleData = object({
  operation: OPERATION,
  reason: text('What went wrong, without secrets'),
  since: instant('When it began'),
});

/**
 * The schemas of all events. events.md, events.schema.json and asyncapi.json are generated from them, and tests check every event
 * they produce against them. Descriptions are written for receivers of events.
 */
export const EVENT_SCHEMAS: { readonly [N in EventName]: EventSchema<N> } = {
  'user.registered': {
    when: 'the remote service has confirmed a user',
    subject: 'user',
    data: object({
      userId: uuid('Id of the user, here and at the remote service'),
      tenantReference: TENANT_REFERENCE,
      gridLocationIds: uuids('Ids of its grid locations, here and at the remote service'),
    }),
  },
  'user.registration_rejected': {
    when: 'the remote service has refused a registration; it had no effect there',
    subject: 'registration',
    data: registrationData,
  },
  'user.registration_uncertain': {
    when: 'the answer to a registration was lost or not clear; a person has to decide',
    subject: 'registration',
    data: registrationData,
  },
  'user.erased': {
    when: 'what is personal about a user has been erased',
    subject: 'user',
    data: object({
      erasureId: uuid('Id of the erasure'),
      userId: {
        type: ['string', 'null'],
        format: 'uuid',
        description: 'Null where a registration had not become a user',
      },
      registrationIds: uuids('The registrations that were deleted'),
      erasedAt: instant('When'),
      erased: {
        description: 'How many of each were emptied or deleted',
        ...object({
          gridLocations: count('Grid locations'),
          registrations: count('Registrations'),
          sessions: count('Sessions'),
          observations: count('Answers of the remote service that had been kept'),
          inverters: count('Inverters'),
          events: count('Events'),
        }),
      },
    }),
  },
  'session.started': {
    when: 'a session exists, and its `startUrl` can be given to the owner',
    subject: 'session',
    data: sessionData,
  },
  'session.awaiting_installation': {
    when: 'it looks as if the owner has completed the web flow; inferred, since the remote service has no flag for it',
    subject: 'session',
    data: sessionData,
  },
  'session.online': {
    when: 'the remote service says finished and lists an inverter',
    subject: 'session',
    data: sessionData,
  },
  'session.expired': {
    when: 'the remote service says expired, and the session is not online; it may still come online later',
    subject: 'session',
    data: sessionData,
  },
  'session.lost': {
    when: 'the remote service has answered repeatedly that there is no such session',
    subject: 'session',
    data: sessionData,
  },
  'session.unrecognised': {
    when: 'the flags are in a combination that the interface does not describe; watched on, never guessed',
    subject: 'session',
    data: sessionData,
  },
  'session.closed': {
    when: 'the session is no longer watched',
    subject: 'session',
    data: object({
      ...session,
      reason: oneOf('Why', 'settled', 'late_window_over', 'lost', 'erased'),
    }),
  },
  'session.reopened': {
    when: 'a closed session is watched again, because a refresh found life in it',
    subject: 'session',
    data: sessionData,
  },
  'session.flapping': {
    when: 'what the remote service says of the session changes too often: told once, and changes are recorded and told as often as the limit allows, the latest first, until it calms',
    subject: 'session',
    data: sessionData,
  },
  'inverter.online': {
    when: 'the session lists an inverter that it did not list before',
    subject: 'session',
    data: inverterData,
  },
  'inverter.missing': {
    when: 'the session no longer lists an inverter',
    subject: 'session',
    data: inverterData,
  },
  'remote.degraded': {
    when: 'a replica has stopped calling an operation of the remote service after failures, or was asked to wait for a minute or longer',
    subject: 'class of remote operations',
    data: troubleData,
  },
  'remote.recovered': {
    when: 'what was announced by `remote.degraded` or `remote.credentials_rejected` is over',
    subject: 'class of remote operations',
    data: object({
      operation: OPERATION,
      from: oneOf('What is over', 'degraded', 'credentials_rejected'),
      since: instant('When it had begun'),
      recoveredAt: instant('When it ended'),
    }),
  },
  'remote.credentials_rejected': {
    when: 'the remote service refuses our credentials, or fresh tokens; a person has to put it right',
    subject: 'class of remote operations',
    data: troubleData,
  },
  'remote.contract_drift': {
    when: 'an answer of the remote service differs from its interface description; told once of each field',
    subject: 'class of remote operations',
    data: object({
      operation: OPERATION,
      kind: oneOf(
        'In which way',
        'new_field',
        'missing_field',
        'other_type',
        'undescribed_flags',
        'token_form',
        'foreign_id',
      ),
      field: text('Its path, such as `inverters[].serialNumber`; of `undescribed_flags` the flags'),
      expected: textOrNull('The type that is described, never a value; null where there is none'),
      found: textOrNull(
        'The type that was found, never a value; of `foreign_id` what the id belongs to; null where there is none',
      ),
      observedAt: instant('When it was seen'),
    }),
  },
  'webhook_endpoint.disabled': {
    when: 'a webhook endpoint is sent nothing more, because it asked so or has been failing for days',
    subject: 'webhook endpoint',
    data: object({
      endpointId: uuid('Id of the endpoint'),
      reason: oneOf('`gone`: it answered 410; `failing`: nothing but failures for days', 'gone', 'failing'),
      since: instant('Since when it had been failing'),
    }),
  },
};
