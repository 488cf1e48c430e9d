import type { Statement, Transaction } from '../platform/database/database.js';
import type { EventName, EventPayloads } from './catalogue.rules.js';

type EventField = { [N in EventName]: keyof EventPayloads[N] }[EventName];

/**
 * What becomes of each field of an event when the user it is about is erased: `kept`, or the value that takes its place. A field
 * that is not named here, which only an event of another release can have, becomes null.
 */
const WHEN_ERASED = {
  tenantReference: null,
  metadata: {},
  inverters: [],
  inverterId: null,
  // Ids that mean something to the remote service alone, and to readers that have to forget what they kept.
  erasureId: 'kept',
  userId: 'kept',
  registrationId: 'kept',
  registrationIds: 'kept',
  gridLocationId: 'kept',
  gridLocationIds: 'kept',
  sessionId: 'kept',
  brand: 'kept',
  state: 'kept',
  previousState: 'kept',
  basis: 'kept',
  rule: 'kept',
  invertersTotal: 'kept',
  reason: 'kept',
  observedAt: 'kept',
  erasedAt: 'kept',
  erased: 'kept',
  // Of events about the remote service, which are about nobody.
  operation: 'kept',
  since: 'kept',
  from: 'kept',
  recoveredAt: 'kept',
  kind: 'kept',
  field: 'kept',
  expected: 'kept',
  found: 'kept',
  // Of events about webhook endpoints.
  endpointId: 'kept',
} as const satisfies Record<EventField, 'kept' | null | object>;

const KEPT = Object.entries(WHEN_ERASED).flatMap(([field, value]) => (value === 'kept' ? [field] : []));

/**
 * In place, so that positions, sequences and deliveries stay as they are. Locked in the order in which sequences are given. By the kind of
 * subject too, because a remote service that mixes up ids may give a session the id of another's user.
 */
export const ERASE_EVENTS: Statement = {
  name: 'events.erase',
  text: `
    WITH held AS MATERIALIZED (
      SELECT position FROM domain_events
       WHERE subject = ANY ($1::text[]) AND name LIKE 'user.%' OR subject = ANY ($4::text[]) AND name NOT LIKE 'user.%'
       ORDER BY position FOR UPDATE
    )
    UPDATE domain_events AS event
    SET data = (
      SELECT coalesce(jsonb_object_agg(key, CASE WHEN key = ANY ($2::text[]) THEN value ELSE coalesce($3::jsonb -> key, 'null') END), '{}')
      FROM jsonb_each(event.data)
    )
    FROM held WHERE event.position = held.position
    RETURNING event.position`,
};

/** A handler's own words may quote the event. */
export const ERASE_DELIVERY_ERRORS: Statement = {
  name: 'events.erase-delivery-errors',
  text: 'UPDATE handler_deliveries SET last_error = NULL WHERE subject = ANY ($1::text[])',
};

/** A receiver may quote what it was sent; a failure to reach it may quote the receiver. */
export const ERASE_WEBHOOK_ANSWERS: Statement = {
  name: 'events.erase-webhook-answers',
  text: `
    UPDATE webhook_deliveries SET last_answer = NULL, last_error = NULL
    WHERE subject = ANY ($1::text[]) AND (last_answer IS NOT NULL OR last_error IS NOT NULL)`,
};

export interface ErasedSubjects {
  /** Ids of users and registrations. */
  readonly people: readonly string[];
  readonly sessions: readonly string[];
}

/**
 * Empties every event of these subjects of what is personal; answers how many there were. What a handler has in hand at that
 * moment it still sees; what it says of it is not kept (see `markFailed`).
 */
export async function eraseEvents(tx: Transaction, { people, sessions }: ErasedSubjects): Promise<number> {
  const erased = await tx.query(ERASE_EVENTS, [people, KEPT, JSON.stringify(WHEN_ERASED), sessions]);
  const subjects = [...people, ...sessions];
  await tx.query(ERASE_DELIVERY_ERRORS, [subjects]);
  await tx.query(ERASE_WEBHOOK_ANSWERS, [subjects]);
  return erased.length;
}
