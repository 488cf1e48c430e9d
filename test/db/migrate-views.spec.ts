import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { createTestDatabase, type TestDatabase } from '../setup/database/test-database.js';

describe('the views of the schema admin', () => {
  let database: TestDatabase;
  let client: pg.Client;

  beforeEach(async () => {
    database = await createTestDatabase();
    client = await database.connect();
  });
  afterEach(() => database.drop());

  const forget = () => client.query(`COMMENT ON SCHEMA admin IS 'Read-only views. Views: 0'`);
  const columnsOf = async (view: string) => {
    const { rows } = await client.query<{ name: string; comment: string | null }>(
      `SELECT attname AS name, col_description(attrelid, attnum) AS comment
       FROM pg_attribute WHERE attrelid = to_regclass($1) ORDER BY attnum`,
      [`admin.${view}`],
    );
    return rows;
  };

  it('are replaced when their text has changed, and keep grants and what others have built on them', async () => {
    const before = await columnsOf('erasures');
    await client.query(`CREATE VIEW mine AS SELECT erasure_id FROM admin.erasures;
      CREATE ROLE auditor_of_erasures; GRANT SELECT ON admin.erasures TO auditor_of_erasures`);
    try {
      await forget();
      await migrate(database.url);
      expect(await columnsOf('erasures')).toEqual(before);
      const { rows } = await client.query(
        `SELECT has_table_privilege('auditor_of_erasures', 'admin.erasures', 'SELECT') AS granted FROM mine
         RIGHT JOIN (VALUES (1)) AS one ON true`,
      );
      expect(rows).toEqual([{ granted: true }]);
    } finally {
      await client.query('DROP OWNED BY auditor_of_erasures; DROP ROLE auditor_of_erasures');
    }
  });

  it('are dropped and created again where PostgreSQL cannot replace them, with a comment on every column', async () => {
    const before = await columnsOf('erasures');
    await client.query('DROP VIEW admin.erasures; CREATE VIEW admin.erasures AS SELECT 1 AS other');
    await forget();
    await migrate(database.url);
    expect(await columnsOf('erasures')).toEqual(before);
    expect(before.filter(({ comment }) => comment === null)).toEqual([]);
  });

  it('do not change while a view cannot be created', async () => {
    await client.query('DROP VIEW admin.stuck; CREATE TABLE admin.stuck ()');
    await client.query(`COMMENT ON VIEW admin.api_keys IS 'mine'`);
    await forget();
    await expect(migrate(database.url)).rejects.toThrow('"stuck" is not a view');
    const { rows } = await client.query(`SELECT obj_description('admin.api_keys'::regclass) AS comment`);
    expect(rows).toEqual([{ comment: 'mine' }]);
  });
});
