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
async function releaseTwice(pool: pg.Pool): Promise<void> {
  const done = await new Promise<() => void>((resolve, reject) => {
    pool.connect((error, _client, release: () => void) => (error ? reject(error) : resolve(release)));
  });
  done();
  done();
}

it('accepts the second release of a client, which a pool of pg refuses, and hands the client out once', async () => {
  const [pool, bare] = [JobsPool, pg.Pool].map(
    (Pool) => new Pool({ connectionString: database.url, max: 1 }),
  );
  try {
    await expect(releaseTwice(bare!)).rejects.toThrow('already been released');
    await releaseTwice(pool!);
    const client = await pool!.connect();
    expect([pool!.totalCount, pool!.idleCount]).toEqual([1, 0]);
    client.release();
  } finally {
    await Promise.all([pool!.end(), bare!.end()]);
  }
});
