import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { Jobs } from '../../../src/platform/jobs/jobs.js';
import { RELEASE_EXPIRED, RELEASE_JOBS, RENEW_JOBS } from '../../../src/platform/jobs/jobs.sql.js';
import { RunningJob } from '../../../src/platform/jobs/running-job.js';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { seedDeadlock } from '../seeded-deadlock.js';

/** Longer than `lockedJob` has locked its job for. */
const LONG_MS = 2 * 3_600_000;

let testDatabase: TestDatabase;
let database: Database;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open();
});
afterEach(() => testDatabase.drop());

it('renews the jobs of a worker, without waiting for one that is being finished', async () => {
  const [finishing, own, other] = await Promise.all(
    ['worker', 'worker', 'another', 'worker'].map((worker) => lockedJob(worker)),
  );
  await database.transaction(async (tx) => {
    await tx.query('SELECT FROM graphile_worker._private_jobs WHERE id = $1 FOR UPDATE', [finishing]);
    // RENEW_JOBS must not wait for this transaction, which waits for it.
    await database.query(RENEW_JOBS, ['worker', [finishing, own, other]]);
  });
  const renewed = await database.query<{ id: string }>(
    `SELECT id FROM graphile_worker._private_jobs WHERE locked_at > now() - interval '1 minute'`,
  );
  expect(renewed.map(({ id }) => id)).toEqual([own]);
});

it('releases a job whose claim had no response, but not one that runs', async () => {
  const [lost, running, other] = await Promise.all(
    ['worker', 'worker', 'another'].map((worker) => lockedJob(worker)),
  );
  const release = (lostAfterMs: number) =>
    database.query<{ id: string }>(RELEASE_EXPIRED, [LONG_MS, 'worker', lostAfterMs, [running]]);
  expect(await release(LONG_MS)).toEqual([]);
  expect(await release(0)).toEqual([{ id: lost }]);
  const left = await database.query<{ id: string }>(
    'SELECT id FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL ORDER BY id',
  );
  expect(left.map(({ id }) => id).sort()).toEqual([running!, other!].sort());
});

it('releases the jobs of a stopped worker, but deletes one that is complete', async () => {
  const finished = await lockedJob('worker', 'key');
  const running = await lockedJob('worker');
  const job = new RunningJob(database, 'worker', finished, () => false);
  expect(await job.finishWhen(async () => true)).toBe(true);
  await database.query(RELEASE_JOBS, ['worker', []]);
  const left = await database.query(`SELECT id, locked_by FROM graphile_worker._private_jobs`);
  expect(left).toEqual([{ id: running, locked_by: null }]);
});

it('releases the jobs of a stopped worker, although that deadlocks once', async () => {
  await lockedJob('worker');
  await seedDeadlock(await testDatabase.connect(), 'UPDATE ON graphile_worker._private_jobs');
  const jobs = new Jobs(environmentFor(testDatabase.url), database, new Metrics());
  await jobs['giveBack']({ id: 'worker' } as Parameters<Jobs['giveBack']>[0]);
  expect(await database.query('SELECT locked_by FROM graphile_worker._private_jobs')).toEqual([
    { locked_by: null },
  ]);
});

// graphile-worker's private tables may change with any version. Before you write a new version here, read its migrations, check every
// statement of jobs.sql.ts, and run the tests of this folder and `npm run test:faults`.
it('depends on the private tables of one version of graphile-worker, in one file', async () => {
  const root = new URL('../../../', import.meta.url);
  const { dependencies } = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(dependencies['graphile-worker']).toBe('0.17.3');
  const columns = await database.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = 'graphile_worker._private_jobs'::regclass AND attnum > 0 AND NOT attisdropped`,
  );
  expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toMatchObject({
    id: 'bigint',
    key: 'text',
    run_at: 'timestamp with time zone',
    attempts: 'smallint',
    max_attempts: 'smallint',
    last_error: 'text',
    locked_at: 'timestamp with time zone',
    locked_by: 'text',
  });
  const files = await readdir(new URL('src', root), { recursive: true });
  const users = [];
  for (const file of files.filter((name) => name.endsWith('.ts') && !name.includes('generated')))
    if ((await readFile(new URL(`src/${file}`, root), 'utf8')).includes('_private_')) users.push(file);
  expect(users).toEqual(['platform/jobs/jobs.sql.ts']);
});

async function lockedJob(worker: string, key: string | null = null): Promise<string> {
  const add = `SELECT id FROM graphile_worker.add_job('test', job_key => $1)`;
  const [job] = await database.query<{ id: string }>(add, [key]);
  await database.query(
    `UPDATE graphile_worker._private_jobs SET locked_by = $2, locked_at = now() - interval '1 hour' WHERE id = $1`,
    [job!.id, worker],
  );
  return job!.id;
}
