import type { Statement, Transaction } from '../platform/database/database.js';
import type { EventName, EventPayloads } from './catalogue.rules.js';

type EventField = { [N in EventName]: keyof EventPayloads[N] }[EventName];

/**
 * What erasing the user does to each field of an event: `kept`, or the replacement value. A field that is not listed, which only an
 * event of another release can have, becomes null.
 */
const WHEN_ERASED = {
  tenantReference: null,
  metadata: {},
  inverters: [],
  inverterId: null,
  // These ids are meaningful only to the remote service, and to readers that must delete their own copies.
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
  // Fields of events about the remote service, which concern no person.
  operation: 'kept',
  since: 'kept',
  from: 'kept',
  recoveredAt: 'kept',
  kind: 'kept',
  field: 'kept',
  expected: 'kept',
  found: 'kept',
  // Fields of events about webhook endpoints.
  endpointId: 'kept',
} as const satisfies Record<EventField, 'kept' | null | object>;

const KEPT = Object.entries(WHEN_ERASED).flatMap(([field, value]) => (value === 'kept' ? [field] : []));

/**
 * Updates in place, so positions, sequences and deliveries are unchanged. Locks the events in the order in which sequences are
 * assigned. Also filters by kind of subject, because a faulty remote service may give a session the same id as another user.
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

/** The error text of a handler may quote the event. */
export const ERASE_DELIVERY_ERRORS: Statement = {
  name: 'events.erase-delivery-errors',
  text: 'UPDATE handler_deliveries SET last_error = NULL WHERE subject = ANY ($1::text[])',
};

/** A receiver may quote the request; a connection error may quote the receiver. */
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
 * Removes personal data from every event of these subjects; returns how many events there were. A handler that is running may still
 * have the old event; its error text is then not stored (see `markFailed`).
 */
export async function eraseEvents(tx: Transaction, { people, sessions }: ErasedSubjects): Promise<number> {
  const erased = await tx.query(ERASE_EVENTS, [people, KEPT, JSON.stringify(WHEN_ERASED), sessions]);
  const subjects = [...people, ...sessions];
  await tx.query(ERASE_DELIVERY_ERRORS, [subjects]);
  await tx.query(ERASE_WEBHOOK_ANSWERS, [subjects]);
  return erased.length;
}
