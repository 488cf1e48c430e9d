import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Database } from '../../src/platform/database/database.js';
import { FIND_OLDEST_TRANSACTION } from '../../src/observability/status/status.sql.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';

describe('the oldest transaction', () => {
  let database: TestDatabase;
  let own: Database;
  let other: pg.Client;
  beforeEach(async () => {
    database = await createTestDatabase();
    own = database.open();
    other = new pg.Client({ connectionString: database.url });
    await other.connect();
  });
  afterEach(async () => {
    await other.end();
    await database.drop();
  });

  const begin = (name: string) => other.query(`SET application_name = '${name}'; BEGIN; SELECT 1`);
  const find = async (statement = FIND_OLDEST_TRANSACTION) =>
    (await own.query<{ process: string }>(statement)).map(({ process }) => process);

  it('is that of another process', async () => {
    await begin('psql');
    expect(await find()).toEqual([expect.stringContaining('psql, idle in transaction')]);
  });

  it('is that of a dump only after 6 hours: a nightly dump of a large database takes hours', async () => {
    await begin('pg_dump');
    expect(await find()).toEqual([]);
    const old = FIND_OLDEST_TRANSACTION.replace('6 hours', '0 hours');
    expect(await find(old)).toEqual([expect.stringContaining('pg_dump')]);
  });
});
