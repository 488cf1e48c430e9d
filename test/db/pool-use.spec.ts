import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '../../src/platform/database/database.js';
import { useTestDatabase } from '../setup/test-database.js';
import { waitFor } from '../setup/wait-for.js';

describe('a pool whose connections are all in use', () => {
  const testDatabase = useTestDatabase();
  let database: Database;
  beforeAll(() => {
    database = testDatabase.open();
    database.pool.options.connectionTimeoutMillis = 500;
  });

  it('is named in the error, with the longest use, and does not delay a sign of life', async () => {
    const { max } = database.pool.options;
    const first = await database.pool.connect();
    const running = first.query('SELECT pg_sleep(3) AS "a secret" FROM pg_class LIMIT 1');
    const others = await Promise.all(Array.from({ length: max - 1 }, () => database.pool.connect()));
    const asked = [database.query('SELECT 1'), database.transaction(() => Promise.resolve())];
    const failed = Promise.allSettled(asked);
    await waitFor('a statement waits', () => Promise.resolve(database.use.waitingSeconds() > 0));
    expect(await database.queryAside('SELECT 2 AS n')).toEqual([{ n: 2 }]);
    for (const each of await failed) {
      const { message } = (each as PromiseRejectedResult).reason as Error;
      expect(message).toMatch(
        new RegExp(
          `^timeout exceeded when trying to connect: ${max} of ${max} connections of the pool are in use, \\d wait; the longest use is SELECT pg_class, for \\d\\.\\d s$`,
        ),
      );
    }
    await running;
    for (const client of [first, ...others]) client.release();
    expect(database.use.waitingSeconds()).toBe(0);
  });
});
