import { Coalescer } from '../platform/async/coalescer.js';
import { prepared, type Database, type Transaction } from '../platform/database/database.js';
import { traced } from '../platform/tracing/tracing.js';
import type { NewEvent } from './catalogue.rules.js';
import { toEventType } from './cloud-event.js';
import { assignSequences, TRY_AND_ASSIGN } from './sequence.sql.js';

// Appends any number of events in one round trip. PostgreSQL assigns the serial `position` in the order of the SELECT.
export const APPEND_EVENTS = prepared('events.append_events')`
    INSERT INTO domain_events (id, name, subject, data, traceparent)
    SELECT gen_random_uuid(), item ->> 'name', item ->> 'subject', item -> 'data', item ->> 'traceparent'
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS items (item, ordinality)
    ORDER BY ordinality`;

/** Appends the events. To keep the order within a subject, the caller first locks the row of the subject. */
export async function appendEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(APPEND_EVENTS, [JSON.stringify(events.map(withSpan))]);
  tx.afterCommit(sequenceSoon);
}

/** Gives the event a span of its own and returns it with the `traceparent` of that span, which readers continue. */
function withSpan(event: NewEvent): NewEvent {
  const { name, subject, traceparent: parent } = event;
  const attributes = { 'cloudevents.event_type': toEventType(name), 'cloudevents.event_subject': subject };
  const start = { name: `event ${name}`, kind: 'producer', parent, attributes } as const;
  return traced(start, ({ traceparent }) => ({ ...event, traceparent }));
}

/** One sequencer per database, so that concurrent writers share a statement. Otherwise, 63 of 64 writers would find the lock taken. */
const sequencers = new WeakMap<Database, Coalescer>();

/** Assigns sequences to at most 10,000 committed events, unless another process is assigning them. */
async function sequenceSoon(database: Database): Promise<void> {
  const sequencer =
    sequencers.get(database) ??
    new Coalescer(async () => void (await assignSequences(database, TRY_AND_ASSIGN)));
  sequencers.set(database, sequencer);
  await sequencer.run();
}
