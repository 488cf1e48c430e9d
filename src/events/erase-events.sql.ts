import type { Transaction } from '../platform/database/database.js';

/** Replaces the fields that identify a person. Outside the remote service, an id alone does not. Readers need the ids to delete their copies. */
const ERASED = { tenantReference: null, metadata: {}, inverters: [], inverterId: null };

// Updates in place, so positions, sequences and deliveries do not change. Locks events in the same order as sequencing, to avoid deadlocks.
// Filters by name, because a faulty remote service may use the id of a user as the id of a session too.
export const ERASE_EVENTS = `
  WITH locked AS MATERIALIZED (
    SELECT position FROM domain_events
     WHERE subject = ANY ($1::text[]) AND name LIKE 'user.%' OR subject = ANY ($2::text[]) AND name NOT LIKE 'user.%'
     ORDER BY position FOR UPDATE
  )
  UPDATE domain_events AS event
  SET data = event.data || (
    SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each($3::jsonb) WHERE event.data ? key)
  FROM locked WHERE event.position = locked.position
  RETURNING event.position`;

/**
 * Erases responses and errors: a response may quote the request, a connection error the receiver, and an
 * error of a handler the event.
 */
export const ERASE_WEBHOOK_RESPONSES = `
  UPDATE webhook_deliveries SET last_answer = NULL, last_error = NULL
  WHERE subject = ANY ($1::text[]) AND (last_answer IS NOT NULL OR last_error IS NOT NULL)`;

/** Removes personal data from all events of these subjects; returns their number. `people`: the ids of users and registrations. `sessions`: the ids of sessions and grid locations. */
export async function eraseEvents(
  tx: Transaction,
  people: readonly string[],
  sessions: readonly string[],
): Promise<number> {
  const erased = await tx.query(ERASE_EVENTS, [people, sessions, JSON.stringify(ERASED)]);
  await tx.query(ERASE_WEBHOOK_RESPONSES, [[...people, ...sessions]]);
  return erased.length;
}
