import type { Statement, Transaction } from '../platform/database/database.js';
import type { NewEvent } from './catalogue.rules.js';
import { ADD_DELIVERY_JOB } from './handlers/handlers.sql.js';
import { sequenceSoon } from './sequence.sql.js';

// A single statement, so events cost one round trip regardless of the number of events and handlers. Events are inserted in the given
// order: PostgreSQL draws the serial `position` in the order of the SELECT. Jobs are added in key order, so that two batches over the
// same subjects cannot deadlock.
const appending = (source: string): string => `
    appended AS (
      INSERT INTO domain_events (id, name, subject, data)
      SELECT gen_random_uuid(), item ->> 'name', item ->> 'subject', item -> 'data'
      FROM ${source}
      ORDER BY ordinality
      RETURNING position, name, subject
    ), owed AS (
      INSERT INTO handler_deliveries (handler, position, subject)
      SELECT event_handlers.name, appended.position, appended.subject
      FROM appended JOIN event_handlers ON appended.name = ANY (event_handlers.events)
      RETURNING handler, subject
    ), jobs AS MATERIALIZED (
      SELECT job.id
      FROM (SELECT DISTINCT handler, subject FROM owed ORDER BY handler, subject) AS drain
      ${ADD_DELIVERY_JOB}
    )`;

const items = (parameter: string): string =>
  `jsonb_array_elements(${parameter}::jsonb) WITH ORDINALITY AS items (item, ordinality)`;

export const APPEND_EVENTS: Statement = {
  name: 'events.append',
  text: `WITH ${appending(items('$1'))} SELECT count(*) FROM jobs`,
};

/**
 * Returns common table expressions that append the events in `parameter` (JSON of NewEvent[]) whose subject is the `id`, a uuid, of a
 * row of `change`, another common table expression. For changes that are a single statement. The statement must read `(SELECT
 * count(*) FROM jobs)`, otherwise no job is added. Call `sequenceSoon` after its commit.
 */
export const appendingAfter = (change: string, parameter: string): string =>
  appending(`${items(parameter)} WHERE (item ->> 'subject')::uuid IN (SELECT id FROM ${change})`);

/**
 * Appends the events in this order, with their handler deliveries, in the transaction that changes the facts. Events of one subject
 * stay in order only if their writers exclude each other, so lock the row of the subject first (a state change does so anyway).
 */
export async function appendEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(APPEND_EVENTS, [JSON.stringify(events)]);
  tx.afterCommit(sequenceSoon);
}
