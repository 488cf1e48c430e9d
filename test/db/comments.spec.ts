import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';

const UNEXPLAINED = `
  SELECT format('%s.%s', n.nspname, c.relname) || coalesce('.' || a.attname, '') AS name
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
   WHERE n.nspname IN ('public', 'admin') AND c.relkind IN ('r', 'p', 'v', 'm')
     AND (obj_description(c.oid, 'pg_class') IS NULL OR col_description(c.oid, a.attnum) IS NULL)
   ORDER BY name`;

describe('comments', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = await database.connect();
  });
  afterAll(() => database.drop());

  const unexplained = async () =>
    (await client.query<{ name: string }>(UNEXPLAINED)).rows.map((row) => row.name);

  it('say what every table, view and column means', async () => {
    expect(await unexplained()).toEqual([]);
  });

  it('are reported as missing if a table, a column or a view is added without one', async () => {
    await client.query(`BEGIN;
      ALTER TABLE users ADD COLUMN nickname text;
      CREATE TABLE campaigns (id int);
      CREATE VIEW admin.campaigns AS SELECT id FROM campaigns`);
    expect(await unexplained()).toEqual([
      'admin.campaigns.id',
      'public.campaigns.id',
      'public.users.nickname',
    ]);
    await client.query('ROLLBACK');
  });

  it('say the same of a column in a view and in the table it comes from', async () => {
    const { rows } = await client.query(`
      SELECT col_description('admin.session_starts'::regclass, a.attnum) AS comment FROM pg_attribute a
       WHERE a.attrelid = 'admin.session_starts'::regclass AND a.attname = 'created_at'`);
    expect(rows).toEqual([{ comment: 'When the tenant asked.' }]);
  });

  it('are on the functions and the schema for administrators too', async () => {
    const { rows } = await client.query(`
      SELECT obj_description('admin'::regnamespace, 'pg_namespace') IS NOT NULL AS schema,
             (SELECT bool_and(obj_description(oid, 'pg_proc') IS NOT NULL) FROM pg_proc
               WHERE pronamespace = 'admin'::regnamespace) AS functions`);
    expect(rows).toEqual([{ schema: true, functions: true }]);
  });
});
