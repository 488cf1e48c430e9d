import type { Transaction } from '../platform/database/database.js';
import type { EventName, EventPayloads } from './catalogue.rules.js';

/** The other events are about the remote service or a webhook endpoint, not about a person. */
type PersonalEvent = Exclude<EventName, `remote.${string}` | `webhook_endpoint.${string}`>;
type EventField = { [N in PersonalEvent]: keyof EventPayloads[N] }[PersonalEvent];

/** The value of each event field after an erasure; `kept`: unchanged. Unlisted fields come from other releases and become null. */
const WHEN_ERASED = {
  tenantReference: null,
  metadata: {},
  inverters: [],
  inverterId: null,
  // Outside the remote service, an id alone identifies nobody. Readers need the ids to delete their own copies.
  erasureId: 'kept',
  userId: 'kept',
  registrationId: 'kept',
  registrationIds: 'kept',
  gridLocationId: 'kept',
  gridLocationIds: 'kept',
  sessionId: 'kept',
  startId: 'kept',
  brand: 'kept',
  state: 'kept',
  previousState: 'kept',
  basis: 'kept',
  rule: 'kept',
  invertersTotal: 'kept',
  reason: 'kept',
  attempts: 'kept',
  orphans: 'kept',
  failedAt: 'kept',
  observedAt: 'kept',
  erasedAt: 'kept',
  erased: 'kept',
} as const satisfies Record<EventField, 'kept' | null | object>;

const KEPT = Object.entries(WHEN_ERASED).flatMap(([field, value]) => (value === 'kept' ? [field] : []));

// Updates in place, so positions, sequences and deliveries do not change. Locks events in the same order as sequencing, to avoid deadlocks.
// Filters by name, because a faulty remote service may use the id of a user as the id of a session too.
export const ERASE_EVENTS = `
  WITH locked AS MATERIALIZED (
    SELECT position FROM domain_events
     WHERE subject = ANY ($1::text[]) AND name LIKE 'user.%' OR subject = ANY ($4::text[]) AND name NOT LIKE 'user.%'
     ORDER BY position FOR UPDATE
  )
  UPDATE domain_events AS event
  SET data = (
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN key = ANY ($2::text[]) THEN value ELSE coalesce($3::jsonb -> key, 'null') END), '{}')
    FROM jsonb_each(event.data)
  )
  FROM locked WHERE event.position = locked.position
  RETURNING event.position`;

/**
 * Erases responses and errors: a response may quote the request, a connection error the receiver, and an
 * error of a handler the event. */
export const ERASE_WEBHOOK_RESPONSES = `
  UPDATE webhook_deliveries SET last_answer = NULL, last_error = NULL
  WHERE subject = ANY ($1::text[]) AND (last_answer IS NOT NULL OR last_error IS NOT NULL)`;

/** Removes personal data from all events of these subjects; returns their number. `people`: the ids of users and registrations. `sessions`: the ids of sessions and grid locations. */
export async function eraseEvents(
  tx: Transaction,
  people: readonly string[],
  sessions: readonly string[],
): Promise<number> {
  const erased = await tx.query(ERASE_EVENTS, [people, KEPT, JSON.stringify(WHEN_ERASED), sessions]);
  const subjects = [...people, ...sessions];
  await tx.query(ERASE_WEBHOOK_RESPONSES, [subjects]);
  return erased.length;
}
