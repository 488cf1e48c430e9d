import { peopleOf, subjectsOf, type PersonalData } from '../platform/database/personal-data.js';

/** The values that replace personal data. Ids stay: they identify nobody outside the remote service, and readers delete data by id. */
const ERASED = { tenantReference: null, metadata: {}, locale: null, inverters: [], inverterId: null };

// Updates in place, so that positions, sequences and deliveries do not change. Locks events in the same order as sequencing, to avoid
// deadlocks. Filters by name, because a faulty remote service may use the same id for a user and a session.
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

export const EVENTS: PersonalData = {
  table: 'domain_events',
  where: 't.subject = ANY ($1::text[])',
  order: 't.position',
  parameter: subjectsOf,
  erase: async (tx, person) => {
    const { sessionIds, gridLocationIds, invitationIds } = person;
    const others = [...sessionIds, ...gridLocationIds, ...invitationIds];
    return (await tx.query(ERASE_EVENTS, [peopleOf(person), others, JSON.stringify(ERASED)])).length;
  },
};
