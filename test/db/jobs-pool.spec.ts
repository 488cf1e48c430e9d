import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { JobsPool } from '../../src/platform/jobs/jobs-pool.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase('empty');
});
afterEach(() => database.drop());

const givenBackTwice = (pool: pg.Pool): Promise<void> =>
  new Promise((resolve, reject) => {
    pool.connect((error, _client, done: () => void) => {
      if (error) return reject(error);
      try {
        done();
        done();
        resolve();
      } catch (thrown) {
        reject(thrown);
      }
    });
  });

it('takes a client back twice, as one of pg does not, and hands it out once', async () => {
  const [pool, bare] = [JobsPool, pg.Pool].map(
    (Pool) => new Pool({ connectionString: database.url, max: 1 }),
  );
  try {
    await expect(givenBackTwice(bare!)).rejects.toThrow('already been released');
    await givenBackTwice(pool!);
    const client = await pool!.connect();
    expect([pool!.totalCount, pool!.idleCount]).toEqual([1, 0]);
    client.release();
  } finally {
    await Promise.all([pool!.end(), bare!.end()]);
  }
});
