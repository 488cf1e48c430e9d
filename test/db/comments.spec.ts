import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../setup/database/test-database.js';

const UNEXPLAINED = `
  SELECT format('%s.%s', n.nspname, c.relname) || coalesce('.' || a.attname, '') AS name
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
   WHERE n.nspname IN ('public', 'admin') AND c.relkind IN ('r', 'p', 'v', 'm')
     AND (obj_description(c.oid, 'pg_class') IS NULL OR col_description(c.oid, a.attnum) IS NULL)
   ORDER BY name`;

describe('comments', () => {
  const database = useTestDatabase();
  let client: pg.Client;

  beforeAll(async () => {
    client = await database.connect();
  });

  const unexplained = async () =>
    (await client.query<{ name: string }>(UNEXPLAINED)).rows.map((row) => row.name);

  it('say what every table, view and column means', async () => {
    expect(await unexplained()).toEqual([]);
  });
});
