import type { Statement, Transaction } from '../platform/database/database.js';
import type { NewEvent } from './catalogue.js';
import { sequenceSoon } from './sequence.sql.js';

// One statement, so that an event costs one round trip however many handlers listen, and a batch costs no more than its rows.
//
// Events are inserted in the order given: PostgreSQL evaluates the serial `position` in the order of the SELECT.
//
// A job is keyed by handler and subject. `unsafe_dedupe` leaves a job that exists alone, also one that is running; the other
// modes do not fit: `replace` and `preserve_run_at` both reset the attempts and the backoff of a job that is being retried
// (so a busy session would hammer a handler that fails), and both detach a running job from its key and add a second one,
// which runs beside it and breaks the order within the subject. What is unsafe about it (an event appended while the job is
// about to finish) is made safe by the job: it gives up its key before it finishes, in a transaction that then looks once
// more (`finishWhen` in platform/jobs). ON CONFLICT locks the job's row until this transaction ends, so either that look
// sees this event, or this insert sees no key and adds a job.
//
// The jobs are added in the order of their keys, so that two batches over the same subjects cannot deadlock.
const APPEND: Statement = {
  name: 'events.append',
  text: `
    WITH appended AS (
      INSERT INTO domain_events (id, name, subject, data)
      SELECT gen_random_uuid(), item ->> 'name', item ->> 'subject', item -> 'data'
      FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS items (item, ordinality)
      ORDER BY ordinality
      RETURNING position, name, subject
    ), owed AS (
      INSERT INTO handler_deliveries (handler, position, subject)
      SELECT event_handlers.name, appended.position, appended.subject
      FROM appended JOIN event_handlers ON appended.name = ANY (event_handlers.events)
      RETURNING handler, subject
    )
    SELECT job.id
    FROM (SELECT DISTINCT handler, subject FROM owed ORDER BY handler, subject) AS drain
    CROSS JOIN LATERAL graphile_worker.add_job(
      identifier => 'event:' || handler,
      payload => json_build_object('subject', subject),
      job_key => 'event:' || handler || ':' || subject,
      job_key_mode => 'unsafe_dedupe',
      max_attempts => 32767
    ) AS job`,
};

/**
 * Announces facts: appends the events, in this order, in the transaction of the facts they tell, together with what the
 * handlers in the process are owed. Events of one subject are kept in order only if their writers exclude each other, so hold
 * a lock on the row of the subject (a state change does anyway).
 */
export async function appendEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(APPEND, [JSON.stringify(events)]);
  tx.afterCommit(sequenceSoon);
}
