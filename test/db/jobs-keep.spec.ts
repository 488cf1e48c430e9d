import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { keepJobs } from '../../src/platform/jobs/jobs.sql.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { environmentFor } from '../setup/test-environment.js';

let testDatabase: TestDatabase;
let database: Database;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(environmentFor(testDatabase.url));
});
afterEach(async () => {
  await database.onApplicationShutdown();
  await testDatabase.drop();
});

it('keeps the jobs of a worker, without waiting for one that is being finished', async () => {
  const [finishing, own] = await Promise.all(['worker', 'worker', 'another'].map(lockedJob));
  await database.transaction(async (tx) => {
    await tx.query('SELECT FROM graphile_worker._private_jobs WHERE id = $1 FOR UPDATE', [finishing]);
    // It would wait for as long as this transaction, and that waits for it.
    await keepJobs(database, 'worker');
  });
  const kept = await database.query<{ id: string }>(
    `SELECT id FROM graphile_worker._private_jobs WHERE locked_at > now() - interval '1 minute'`,
  );
  expect(kept.map(({ id }) => id)).toEqual([own]);
});

/** Held for an hour. */
async function lockedJob(worker: string): Promise<string> {
  const [job] = await database.query<{ id: string }>(`SELECT id FROM graphile_worker.add_job('test')`);
  await database.query(
    `UPDATE graphile_worker._private_jobs SET locked_by = $2, locked_at = now() - interval '1 hour' WHERE id = $1`,
    [job!.id, worker],
  );
  return job!.id;
}
