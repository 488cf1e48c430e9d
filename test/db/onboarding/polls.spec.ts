import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ReadHabits } from '../../../src/onboarding/poll/habits.service.js';
import { DELETE_EXPIRED_BATCHES, RESCHEDULE } from '../../../src/onboarding/poll/polls.sql.js';
import { PollsStore } from '../../../src/onboarding/poll/polls.store.js';
import type { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let client: pg.Client;
let polls: PollsStore;
beforeAll(async () => {
  database = testDatabase.open();
  client = await testDatabase.connect();
  const environment = environmentFor(testDatabase.url);
  polls = new PollsStore(database, environment, new ReadHabits(database, environment));
});

const insertBatch = async (lease_until: string) =>
  (await insertRow<{ id: string }>(client, 'poll_batches', { lease_until })).id;
const deleteExpired = () =>
  database.transaction(async (tx) => {
    // A wait for the lock would be an error.
    await tx.query(`SET LOCAL lock_timeout = '1 s'`);
    return (await tx.query<{ id: string }>(DELETE_EXPIRED_BATCHES)).map(({ id }) => id);
  });

it('deletes the expired batches that no other worker deletes, and waits for none', async () => {
  const [first, second] = [await insertBatch('yesterday'), await insertBatch('yesterday')];
  const live = await insertBatch('tomorrow');
  await client.query('BEGIN');
  await client.query('SELECT FROM poll_batches WHERE id = $1 FOR UPDATE', [first]);
  expect(await deleteExpired()).toEqual([second]);
  await client.query('ROLLBACK');
  expect(await deleteExpired()).toEqual([first]);
  expect((await client.query('SELECT id FROM poll_batches')).rows).toEqual([{ id: live }]);
});

async function insertPoll(values: Readonly<Record<string, unknown>>): Promise<string> {
  const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
  const session = { user_id, grid_location_id };
  const { id: session_id } = await insertRow<{ id: string }>(client, 'onboarding_sessions', session);
  await insertRow(client, 'session_polls', { session_id, user_id, ...values });
  return session_id;
}

describe('a claim', () => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const insertDue = (overdue: number, interval: number) =>
    insertPoll({
      due_at: ago(overdue),
      claimed_at: ago(overdue + interval),
      planned_at: ago(overdue + interval),
    });
  const pollOf = async (id: string) => {
    const columns = 'due_at, claimed_at, planned_at, failures';
    return (await client.query(`SELECT ${columns} FROM session_polls WHERE session_id = $1`, [id])).rows[0];
  };
  const claimIds = async (limit: number) => (await polls.claimDue(limit)).map(({ sessionId }) => sessionId);

  it('takes half from the fresh, whatever waits, and half from those that are the latest relative to their interval', async () => {
    const longest = await insertDue(3_600, 7_200);
    const latest = await insertDue(600, 20);
    const fresh = [await insertDue(3, 2), await insertDue(1, 2)];
    expect(await claimIds(2)).toEqual([fresh[0], latest]);
    expect((await claimIds(2)).toSorted()).toEqual([fresh[1]!, longest].toSorted());
  });

  it('leaves a session as before if it is not read, and in its lane if it is refused', async () => {
    const ids = [await insertDue(100, 8), await insertDue(90, 8)];
    const before = await Promise.all(ids.map(pollOf));
    const [released, refused] = await polls.claimDue(2);
    const failure = { failures: 0, notFound: 0, error: null };
    await polls.recordFailures([
      {
        sessionId: released!.sessionId,
        batchId: released!.batchId,
        ...failure,
        retryMs: 0,
        dueAt: released!.dueAt,
      },
      {
        sessionId: refused!.sessionId,
        batchId: refused!.batchId,
        ...failure,
        retryMs: 1_000,
        dueAt: refused!.dueAt,
      },
    ]);
    expect(await pollOf(released!.sessionId)).toEqual(before[ids.indexOf(released!.sessionId)]);
    const { due_at, planned_at } = await pollOf(refused!.sessionId);
    // The refused session keeps the interval that the claim planned from the age of the session.
    expect(due_at - planned_at).toBeGreaterThan(900);
    expect(due_at - new Date(refused!.dueAt).getTime()).toBe(due_at - planned_at);
  });
});

it('forgets all failures after a good read', async () => {
  const failed = { failures: 7, not_found: 3, last_error: 'status 404' };
  const session_id = await insertPoll({ due_at: 'tomorrow', ...failed });
  const read = {
    sessionId: session_id,
    phase: 'late',
    anchorAt: new Date(),
    endingReads: 0,
    isRecorded: false,
    nextMs: 1_000,
  };
  await database.query(RESCHEDULE, [JSON.stringify([read])]);
  const columns = 'failures, not_found, last_error, phase';
  const { rows } = await client.query(`SELECT ${columns} FROM session_polls WHERE session_id = $1`, [
    session_id,
  ]);
  expect(rows).toEqual([{ failures: 0, not_found: 0, last_error: null, phase: 'late' }]);
});
