import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { declaredKinds } from '../../bench/seed/seed.js';
import { DrainStore } from '../../src/campaigns/drain/drain.store.js';
import { EventsStore } from '../../src/feed/events.store.js';
import { appendEvents } from '../../src/events/outbox.js';
import { InvitationsStore } from '../../src/invitations/invitations.store.js';
import { scheduleOf } from '../../src/invitations/reminders/reminder.rules.js';
import { RemindersStore } from '../../src/invitations/reminders/reminders.store.js';
import { LearnedSchedules } from '../../src/onboarding/poll/learned-schedules.js';
import { PollsStore } from '../../src/onboarding/poll/polls.store.js';
import { StartsStore } from '../../src/onboarding/start/starts.store.js';
import { Cipher } from '../../src/platform/crypto/cipher.js';
import { RegistrationsStore } from '../../src/users/registration/registrations.store.js';
import { StallsStore } from '../../src/stalls/stalls.store.js';
import { useTestDatabase } from '../setup/database/test-database.js';
import { newEan } from '../setup/ean.js';
import { environmentFor } from '../setup/test-environment.js';
import { sessionEvent } from './events/fixture.js';
import { insertCustomer, insertRow, tomorrow } from './valid-rows.js';

const testDatabase = useTestDatabase();
let client: pg.Client;
const database = testDatabase.open();
const environment = environmentFor(testDatabase.url);
const cipher = new Cipher(environment);
const polls = new PollsStore(database, environment, new LearnedSchedules());
const registrations = new RegistrationsStore(database);
const starts = new StartsStore(database, cipher, environment);
const invitations = new InvitationsStore(database, cipher, environment);
const stalls = new StallsStore(database, declaredKinds(environment));

beforeAll(async () => {
  client = await testDatabase.connect();
});
afterEach(async () => {
  await client.query('DROP FUNCTION IF EXISTS refuse CASCADE');
  await client.query(
    'TRUNCATE users, registrations, poll_batches, stall_looks, domain_events, campaigns CASCADE',
  );
  const logged = errors.mock.calls.splice(0);
  const text = 'a row is left out: PostgreSQL refuses to change it (SQLSTATE P0001): ';
  expect(logged).toEqual(leftOut.splice(0).map((id) => [text + id]));
});

const errors = jest.spyOn(Logger.prototype, 'error');
/** What the log calls the rows that a test has PostgreSQL refuse. */
const leftOut: string[] = [];

/** Makes PostgreSQL refuse each change of one row, which is then logged once. */
const refuse = (table: string, key: string, id: string, loggedAs = id): Promise<unknown> => {
  leftOut.push(loggedAs);
  return client.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW WHEN (old.${key} = '${id}') EXECUTE FUNCTION refuse()`);
};

/** Inserts rows one after the other. Returns what `insert` returns for each. */
async function insertEach<T>(count: number, insert: (index: number) => Promise<T>): Promise<T[]> {
  const inserted: T[] = [];
  for (let index = 0; index < count; index++) inserted.push(await insert(index));
  return inserted;
}

const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);

async function insertPoll(values: Readonly<Record<string, unknown>>): Promise<string> {
  const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
  const session = { user_id, grid_location_id };
  const { id: session_id } = await insertRow<{ id: string }>(client, 'onboarding_sessions', session);
  await insertRow(client, 'session_polls', { session_id, user_id, ...values });
  return session_id;
}

const insertDuePoll = (index: number): Promise<string> =>
  insertPoll({ due_at: ago(500 - index), claimed_at: ago(1_000 - index), planned_at: ago(1_000 - index) });

async function insertInvitation(values: Readonly<Record<string, unknown>>): Promise<string> {
  const { gridLocationId: grid_location_id } = await insertCustomer(client);
  const row = { grid_location_id, ...values };
  return (await insertRow<{ id: string }>(client, 'invitations', row)).id;
}

const insertRegistration = async (values: Readonly<Record<string, unknown>>): Promise<string> =>
  (await insertRow<{ id: string }>(client, 'registrations', { status: 'pending', ...values })).id;

describe('a row that PostgreSQL refuses to change stops no other', () => {
  it.each([1, 3])('when at most %i of the due sessions are claimed', async (limit) => {
    const [first, ...others] = await insertEach(4, insertDuePoll);
    await refuse('session_polls', 'session_id', first!);
    const claimed = await polls.claimDue(limit);
    expect(claimed.map(({ sessionId }) => sessionId).toSorted()).toEqual(others.slice(0, limit).toSorted());
    expect(new Set(claimed.map(({ batchId }) => batchId)).size).toBe(1);
  });

  it('when the sessions of lost batches are released', async () => {
    const batches = await insertEach(2, () =>
      insertRow<{ id: string }>(client, 'poll_batches', { lease_until: 'yesterday' }),
    );
    const [first, other] = await insertEach(2, (index) =>
      insertPoll({ due_at: tomorrow(), batch_id: batches[index]!.id }),
    );
    await refuse('session_polls', 'session_id', first!, batches[0]!.id);
    expect(await polls.releaseExpiredBatches()).toBe(2);
    expect((await polls.claimDue(10)).map(({ sessionId }) => sessionId)).toEqual([other]);
  });

  it('when failed reads are recorded', async () => {
    const ids = await insertEach(3, insertDuePoll);
    const claimed = await polls.claimDue(10);
    await refuse('session_polls', 'session_id', ids[0]!);
    await polls.recordFailures(
      claimed.map(({ sessionId, batchId, dueAt }) => ({
        sessionId,
        batchId,
        dueAt,
        failures: 1,
        notFound: 0,
        notFoundSince: null,
        error: 'it failed',
        retryMs: 1_000,
      })),
    );
    const { rows } = await client.query<{ id: string }>(
      `SELECT session_id AS id FROM session_polls WHERE last_error = 'it failed'`,
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.slice(1).toSorted());
  });

  it.each([1, 3])('when at most %i of the due registrations are claimed', async (limit) => {
    const ids = await insertEach(4, (index) =>
      insertRegistration({ next_attempt_at: ago(500 - index), campaign_id: index < 2 ? null : randomUUID() }),
    );
    await refuse('registrations', 'id', ids[0]!);
    const claimed = await registrations.claimDue(limit);
    expect(claimed.map(({ id }) => id).toSorted()).toEqual(ids.slice(1, 1 + limit).toSorted());
  });

  it('when abandoned registrations become uncertain', async () => {
    const lease_token = randomUUID();
    const leased = { lease_token, lease_until: ago(1), sent_at: ago(20), next_attempt_at: null, attempts: 1 };
    const ids = await insertEach(3, () => insertRegistration(leased));
    await refuse('registrations', 'id', ids[0]!);
    expect((await registrations.moveAbandonedToUncertain([lease_token])).toSorted()).toEqual(
      ids.slice(1).toSorted(),
    );
  });

  it('when abandoned starts are ended', async () => {
    const rows = await insertEach(3, async () => {
      const { gridLocationId: grid_location_id } = await insertCustomer(client);
      return insertRow<{ id: string; grid_location_id: string; lease_token: string }>(
        client,
        'session_starts',
        { grid_location_id, lease_until: ago(1) },
      );
    });
    await refuse('session_starts', 'id', rows[0]!.id, rows[0]!.lease_token);
    const ended = await starts.endAbandoned(rows.map(({ lease_token }) => lease_token));
    expect(ended.toSorted()).toEqual(
      rows
        .slice(1)
        .map(({ grid_location_id }) => grid_location_id)
        .toSorted(),
    );
  });

  it.each([1, 4])('when at most %i of the wishes of owners are claimed', async (limit) => {
    const opened_at = ago(100_000);
    const agesInMinutes = [10, 1, 10, 300, 1_500];
    const ids = await insertEach(5, (index) =>
      insertInvitation({
        ...{ opened_at, wished_at: ago(60 * agesInMinutes[index]!), wish_due_at: ago(50 - index) },
      }),
    );
    await refuse('invitations', 'id', ids[0]!);
    const claimed = await invitations.claimWishes(limit, 120_000);
    expect(claimed.map(({ id }) => id).toSorted()).toEqual(ids.slice(1, 1 + limit).toSorted());
    const { rows } = await client.query(
      `SELECT round(extract(epoch FROM wish_due_at - now()) / 60)::int AS due, wish_failed_at IS NOT NULL AS failed
         FROM invitations WHERE wish_due_at IS NULL OR wish_due_at > now() ORDER BY array_position($1::uuid[], id)`,
      [ids],
    );
    const next = [2, 5, 60, null].map((due) => ({ due, failed: due === null }));
    expect(rows).toEqual(next.slice(0, limit));
  });

  it('when invitations expire', async () => {
    const ids = await insertEach(3, (index) => insertInvitation({ expires_at: ago(500 - index) }));
    await refuse('invitations', 'id', ids[0]!);
    expect(await invitations.expireOverdue()).toBe(false);
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM invitations WHERE expired_at IS NOT NULL',
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.slice(1).toSorted());
    const told = await client.query<{ subject: string }>(
      `SELECT subject FROM domain_events WHERE name = 'invitation.expired'`,
    );
    expect(told.rows.map(({ subject }) => subject).toSorted()).toEqual(ids.slice(1).toSorted());
  });

  it('when the progress of invitations is recorded', async () => {
    const locations: string[] = [];
    const ids = await insertEach(3, async () => {
      const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
      await insertRow(client, 'onboarding_sessions', { user_id, grid_location_id, state: 'online' });
      const { id } = await insertRow<{ id: string }>(client, 'invitations', { grid_location_id });
      locations.push(grid_location_id);
      return id;
    });
    await refuse('invitations', 'id', ids[0]!, locations[0]);
    await invitations.recordProgress(ago(3_600));
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM invitations WHERE online_at IS NOT NULL',
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.slice(1).toSorted());
  });

  it('when due subjects are looked at for stalls', async () => {
    const looks = await insertEach(3, (index) =>
      insertRow<{ subject: string }>(client, 'stall_looks', { look_at: ago(500 - index) }),
    );
    await refuse('stall_looks', 'subject', looks[0]!.subject);
    expect(await stalls.lookAtDue(1)).toBe(1);
    expect(await stalls.lookAtDue(10)).toBe(1);
    const { rows } = await client.query<{ subject: string }>('SELECT subject FROM stall_looks');
    expect(rows.map(({ subject }) => subject)).toEqual([looks[0]!.subject]);
  });

  it('when reminders are planned', async () => {
    const due = { created_at: ago(9 * 86_400), reminder_due_at: ago(60), expires_at: ago(-30 * 86_400) };
    const ids = await insertEach(3, () => insertInvitation(due));
    await refuse('invitations', 'id', ids[0]!);
    expect(await new RemindersStore(database).remind(scheduleOf([48], 'UTC', 'off'))).toBe(false);
    const { rows } = await client.query<{ subject: string }>(
      `SELECT subject FROM domain_events WHERE name = 'invitation.reminder_due'`,
    );
    expect(rows.map(({ subject }) => subject).toSorted()).toEqual(ids.slice(1).toSorted());
  });

  it('when events get their sequences, except those that follow it in its session', async () => {
    const [refused, other] = [randomUUID(), randomUUID()];
    const events = new EventsStore(database);
    const readMarkers = async () =>
      (await events.readPage('0', 100)).events.map(({ data }) => 'rule' in data && data.rule);
    const append = (...appended: (readonly [string, string])[]) =>
      database.transaction((tx) =>
        appendEvents(
          tx,
          appended.map(([session, marker]) => sessionEvent('session.online', session, marker)),
        ),
      );
    await client.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON domain_events FOR EACH ROW WHEN (old.data ->> 'rule' = 'second') EXECUTE FUNCTION refuse()`);
    await append([refused, 'first'], [other, 'one'], [refused, 'second'], [refused, 'third'], [other, 'two']);
    expect((await readMarkers()).toSorted()).toEqual(['first', 'one', 'two']);
    await append([other, 'three'], [refused, 'fourth'], [other, 'four']);
    const read = await readMarkers();
    expect(read.slice(-2)).toEqual(['three', 'four']);
    expect(read).toHaveLength(5);
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM domain_events WHERE data ->> 'rule' = 'second'`,
    );
    leftOut.push(rows[0]!.id);
    await client.query('DROP FUNCTION refuse CASCADE');
    expect((await readMarkers()).slice(5)).toEqual(['second', 'third', 'fourth']);
  });

  it('when the rows of a campaign get their registrations, and then their results', async () => {
    const lease_token = randomUUID();
    const { id } = await insertRow<{ id: string }>(client, 'campaigns', {
      lease_token,
      lease_until: tomorrow(),
      status: 'running',
    });
    const lines = [2, 3, 4];
    for (const line of lines) {
      const row = { campaign_id: id, line, status: 'accepted', tenant_reference: `r${line}`, ean: newEan() };
      await insertRow(client, 'campaign_rows', row);
    }
    const drain = new DrainStore(database);
    const linesOf = async (status: string) =>
      (
        await client.query<{ line: number }>(
          'SELECT line FROM campaign_rows WHERE campaign_id = $1 AND status = $2 ORDER BY line',
          [id, status],
        )
      ).rows.map(({ line }) => line);
    await refuse('campaign_rows', 'line', '2', `campaign ${id}, line 2`);
    expect(await drain.advance(id, lease_token, null)).toMatchObject({ taken: 2, isDone: false });
    expect(await linesOf('sent')).toEqual([3, 4]);
    const { rows } = await client.query<{ reference: string }>(
      'SELECT tenant_reference AS reference FROM registrations ORDER BY 1',
    );
    expect(rows).toEqual([{ reference: 'r3' }, { reference: 'r4' }]);
    await client.query(`UPDATE registrations SET status = 'discarded', next_attempt_at = NULL`);
    await client.query('DROP FUNCTION refuse CASCADE');
    await refuse('campaign_rows', 'line', '3', `campaign ${id}, line 3`);
    expect(await drain.advance(id, lease_token, null)).toMatchObject({
      settled: [4],
      taken: 1,
      isDone: false,
    });
    expect(await linesOf('rejected')).toEqual([4]);
  });

  it('but a fault of the whole table is not taken for one of its rows', async () => {
    await insertEach(3, insertDuePoll);
    await client.query('ALTER TABLE session_polls RENAME COLUMN planned_at TO planned');
    try {
      await expect(polls.claimDue(10)).rejects.toMatchObject({ code: '42703' });
    } finally {
      await client.query('ALTER TABLE session_polls RENAME COLUMN planned TO planned_at');
    }
  });
});
