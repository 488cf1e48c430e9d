import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { JobsPool } from '../../../src/platform/jobs/jobs.js';
import { createTestDatabase, type TestDatabase } from '../../setup/test-database.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase('empty');
});
afterEach(() => database.drop());

/** Releases a client twice through the callback of `connect`, as graphile-worker does. */
async function giveBackTwice(pool: pg.Pool): Promise<void> {
  const done = await new Promise<() => void>((resolve, reject) => {
    pool.connect((error, _client, release: () => void) => (error ? reject(error) : resolve(release)));
  });
  done();
  done();
}

it('takes a client back twice, as one of pg does not, and hands it out once', async () => {
  const [pool, bare] = [JobsPool, pg.Pool].map(
    (Pool) => new Pool({ connectionString: database.url, max: 1 }),
  );
  try {
    await expect(giveBackTwice(bare!)).rejects.toThrow('already been released');
    await giveBackTwice(pool!);
    const client = await pool!.connect();
    expect([pool!.totalCount, pool!.idleCount]).toEqual([1, 0]);
    client.release();
  } finally {
    await Promise.all([pool!.end(), bare!.end()]);
  }
});
