import { READ_POLLING } from '../../../src/status/status.sql.js';
import { waitFor } from '../../setup/wait-for.js';
import { insertRow } from '../../db/valid-rows.js';
import { changeStatement } from '../support/changed-statement.js';
import { repeatUntilEnd, type Cause, type Planted } from './planted.js';

/** Runs statements in a transaction that stays open until the end of the test. */
async function holdOpen({ database, closing }: Planted, statements: string): Promise<void> {
  const client = await database.pool.connect();
  await client.query(`SET idle_in_transaction_session_timeout = 0; BEGIN; ${statements}`);
  closing.push(() => client.release(true));
}

/** Causes in which work waits, or operations of the remote service fail. */
export const CAUSES_OF_QUEUES = {
  'events get no sequence': {
    async plant(planted) {
      await holdOpen(
        planted,
        `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/events.sequence', 0))`,
      );
      await planted.database.query(
        `INSERT INTO domain_events (id, name, subject, data, time)
         VALUES (gen_random_uuid(), 'a.test', 'a test', '{}', now() - interval '2 minutes')`,
      );
    },
    reasons: { events_unsequenced: '1 event has no sequence, the oldest for 12' },
    shown: ['1 event has no sequence, the oldest for 2 min'],
  },
  'no process has a handler any more': {
    plant: ({ database }) =>
      database.query(
        `WITH handler AS (INSERT INTO webhook_endpoints (handler, types, read_to, seen_at, created_by)
                          VALUES ('Removed.handler', '{a.test}', 0, now(), 'service'))
         INSERT INTO domain_events (id, name, subject, data, sequence, time)
         VALUES (gen_random_uuid(), 'a.test', 'a test', '{}', 1, now() - interval '20 minutes')`,
      ),
    reasons: { reader_behind: 'handlers: an event has not arrived for 12' },
    shown: ['handlers: an event has not arrived for 20 min'],
  },
  'a forgotten transaction has the rows of the sessions': {
    async plant(planted) {
      changeStatement(
        planted.app.app,
        READ_POLLING,
        'min(q.due_at)',
        `(min(q.due_at) - interval '3 minutes')`,
      );
      const client = await planted.database.pool.connect();
      planted.closing.push(() => client.release(true));
      await client.query('SET idle_in_transaction_session_timeout = 0');
      // Locks the polls while no session is claimed, because a claimed session is not overdue.
      await waitFor('no claim', async () => {
        await client.query('ROLLBACK; BEGIN; SELECT FROM session_polls FOR UPDATE');
        return (await client.query('SELECT FROM poll_batches')).rowCount === 0;
      });
    },
    reasons: { sessions_overdue: '5 sessions are due, the most overdue for ' },
    readsStop: true,
  },
  'a forgotten transaction has the row of a start': {
    async plant(planted) {
      const grid_location_id = await planted.client.locate();
      const client = await planted.database.pool.connect();
      try {
        const lease_until = new Date(Date.now() - 120_000);
        const { id } = await insertRow<{ id: string }>(client, 'session_starts', {
          grid_location_id,
          lease_until,
        });
        await holdOpen(planted, `SELECT FROM session_starts WHERE id = '${id}' FOR UPDATE`);
      } finally {
        client.release();
      }
    },
    reasons: { starts_abandoned: '1 start waits for a worker to end it' },
  },
  'the reads of one session have failed for hours': {
    async plant(planted) {
      const fail = `
        UPDATE session_polls SET failures = 7, checked_at = now() - interval '2 hours', claimed_at = now() - interval '2 hours',
          due_at = now() + interval '1 hour'
        WHERE session_id = $1`;
      repeatUntilEnd(planted, 250, () => planted.database.query(fail, [planted.ids[0]]));
    },
    reasons: { reads_stale: 'awaiting_owner: a session was last read 72' },
    shown: ['awaiting owner: a session was last read 2 h'],
  },
  'the reads of all sessions have failed for long': {
    async plant(planted) {
      const fail = `
        UPDATE session_polls SET failures = 7, checked_at = now() - interval '20 minutes', claimed_at = now() - interval '20 minutes',
          failing_since = now() - interval '19 minutes', due_at = now() + interval '1 hour'`;
      repeatUntilEnd(planted, 250, () => planted.database.query(fail));
    },
    reasons: { nothing_read: 'a session has waited for 114', reads_stale: 'a session was last read 120' },
    shown: ['a session has waited for 19 min', 'a session was last read 20 min'],
  },
  'a handler fails again and again': {
    plant: ({ database }) =>
      database.query(
        `WITH handler AS (INSERT INTO webhook_endpoints (handler, types, read_to, seen_at, created_by)
                          VALUES ('Failing.handler', '{a.test}', 1, now(), 'service') RETURNING id),
              event AS (INSERT INTO domain_events (id, name, subject, data, sequence)
                        VALUES (gen_random_uuid(), 'a.test', 'a test', '{}', 1) RETURNING position)
         INSERT INTO webhook_deliveries (endpoint_id, position, subject, attempts, created_at)
         SELECT handler.id, position, 'a test', 3, now() - interval '10 minutes' FROM handler, event`,
      ),
    reasons: { handlers_failing: 'handlers have failed on 1 event, the oldest of 60' },
    shown: ['handlers have failed on 1 event, the oldest of 10 min'],
  },
  'starts get 500': {
    async plant(planted) {
      await planted.control.addFault({
        kind: 'answer',
        status: 500,
        operation: 'start_session',
        times: null,
      });
      // Each at its own location, since a location waits after a failed start.
      const start = async () => planted.client.start(await planted.client.locate());
      repeatUntilEnd(planted, 250, start);
    },
    reasons: { remote_degraded: 'start_session: status 500' },
    // A start with an unknown outcome counts as an orphan.
    also: ['held_back_by_breaker', 'starts_lost'],
  },
  'reads get a page of a firewall': {
    plant: ({ control }) =>
      control.addFault({
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: '<html>blocked</html>',
        operation: 'read_session',
        times: null,
      }),
    reasons: { remote_degraded: 'text/html' },
    also: ['held_back_by_breaker', 'contract_drifted'],
    readsStop: true,
  },
  'requests of a token get 500': {
    async plant({ control }) {
      await control.addFault({ kind: 'answer', status: 500, operation: 'token', times: null });
      await control.revokeTokens();
    },
    reasons: { remote_degraded: 'token: status 500' },
    also: ['held_back_by_breaker', 'credentials_rejected'],
    readsStop: true,
  },
} as const satisfies Record<string, Cause>;
