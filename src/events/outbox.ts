import { Coalescer } from '../platform/async/coalescer.js';
import type { Sql, Statement, Transaction } from '../platform/database/database.js';
import { traced } from '../observability/tracing/tracing.js';
import type { NewEvent } from './catalogue.rules.js';
import { toEventType } from './cloud-event.js';
import { TRY_AND_ASSIGN } from './sequence.sql.js';

// One statement, so the cost is one round trip for any number of events. PostgreSQL assigns the serial `position` in the order of the SELECT.
export const APPEND_EVENTS: Statement = {
  name: 'events.append_events',
  text: `
    INSERT INTO domain_events (id, name, subject, data, traceparent)
    SELECT gen_random_uuid(), item ->> 'name', item ->> 'subject', item -> 'data', item ->> 'traceparent'
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS items (item, ordinality)
    ORDER BY ordinality`,
};

/** Appends the events. To keep the order within a subject, callers lock the subject's row first. */
export async function appendEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(APPEND_EVENTS, [JSON.stringify(events.map(withSpan))]);
  tx.afterCommit(sequenceSoon);
}

/** Returns the event with the `traceparent` of a span of its own, which its readers continue. */
function withSpan(event: NewEvent): NewEvent {
  const { name, subject, traceparent: parent } = event;
  const attributes = { 'cloudevents.event_type': toEventType(name), 'cloudevents.event_subject': subject };
  const start = { name: `event ${name}`, kind: 'producer', parent, attributes } as const;
  return traced(start, ({ traceparent }) => ({ ...event, traceparent }));
}

/** One sequencer per database, so that concurrent writers share a statement. If each ran its own, 63 of 64 would find the lock taken. */
const sequencers = new WeakMap<Sql, Coalescer>();

/** Assigns sequences to all committed events, unless another process is already doing so. */
async function sequenceSoon(sql: Sql): Promise<void> {
  const sequencer = sequencers.get(sql) ?? new Coalescer(async () => void (await sql.query(TRY_AND_ASSIGN)));
  sequencers.set(sql, sequencer);
  await sequencer.run();
}
