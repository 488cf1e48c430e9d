import type { Statement, Transaction } from '../platform/database/database.js';
import type { NewEvent } from './catalogue.rules.js';
import { ADD_DELIVERY_JOB } from './handlers/handlers.sql.js';
import { sequenceSoon } from './sequence.sql.js';

// One statement, so that events cost one round trip however many they are and however many handlers listen. They are inserted
// in the order given: PostgreSQL draws the serial `position` in the order of the SELECT. The jobs are added in the order of
// their keys, so that two batches over the same subjects cannot deadlock.
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
 * For changes that are one statement: common table expressions that append those events of `parameter` (JSON of NewEvent[]) whose
 * subject is the `id`, a uuid, of a row of `change`, another such expression. The statement must read `(SELECT count(*) FROM jobs)`,
 * or no job is added, and `sequenceSoon` must follow its commit.
 */
export const appendingAfter = (change: string, parameter: string): string =>
  appending(`${items(parameter)} WHERE (item ->> 'subject')::uuid IN (SELECT id FROM ${change})`);

/**
 * Announces facts: appends the events, in this order, in the transaction of the facts they tell, together with what the
 * handlers in the process are owed. Events of one subject are kept in order only if their writers exclude each other, so hold
 * a lock on the row of the subject (a state change does anyway).
 */
export async function appendEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(APPEND_EVENTS, [JSON.stringify(events)]);
  tx.afterCommit(sequenceSoon);
}
