import { beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { DELETE_EXPIRED_BATCHES, RESCHEDULE } from '../../../src/onboarding/poll/polls.sql.js';
import type { Database } from '../../../src/platform/database/database.js';
import { useTestDatabase } from '../../setup/test-database.js';
import { insertCustomer, insertRow } from '../valid-rows.js';

const testDatabase = useTestDatabase();
let database: Database;
let client: pg.Client;
beforeAll(async () => {
  database = testDatabase.open();
  client = await testDatabase.connect();
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

it('forgets all failures after a good read', async () => {
  const { userId: user_id, gridLocationId: grid_location_id } = await insertCustomer(client);
  const { id: session_id } = await insertRow<{ id: string }>(client, 'onboarding_sessions', {
    user_id,
    grid_location_id,
  });
  const failed = { failures: 7, not_found: 3, last_error: 'status 404' };
  await insertRow(client, 'session_polls', { session_id, user_id, ...failed });
  const read = {
    sessionId: session_id,
    phase: 'late',
    anchorAt: new Date(),
    endingReads: 0,
    isRecorded: false,
    nextMs: 1_000,
  };
  await database.query(RESCHEDULE, [JSON.stringify([read])]);
  const { rows } = await client.query('SELECT failures, not_found, last_error, phase FROM session_polls');
  expect(rows).toEqual([{ failures: 0, not_found: 0, last_error: null, phase: 'late' }]);
});
