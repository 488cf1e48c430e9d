import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import pg from 'pg';
import { migrate, MIGRATIONS_FOLDER } from '../../src/platform/database/migrate.js';
import { applyMigrations, readMigrations } from '../../src/platform/database/schema-engine.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { waitFor } from '../setup/wait-for.js';

describe('migrate', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let names: string[];

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    names = (await readdir(MIGRATIONS_FOLDER)).filter((name) => !name.endsWith('.toml')).sort();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  it('applies every migration, ours and those of the job queue, and then nothing more', async () => {
    expect(await migrate(database.url)).toEqual(names);
    const { rows } = await client.query(
      `SELECT to_regclass('users') AS ours, to_regclass('graphile_worker.jobs') AS jobs`,
    );
    expect(rows).toEqual([{ ours: 'users', jobs: 'graphile_worker.jobs' }]);
    expect(await migrate(database.url)).toEqual([]);
  });

  it('applies what is missing in the order of the names', async () => {
    const all = await readMigrations(MIGRATIONS_FOLDER);
    const pool = new pg.Pool({ connectionString: database.url });
    const older = { ...all, migrationDirectories: all.migrationDirectories.slice(0, -2) };
    await applyMigrations(pool, older);
    await pool.end();
    expect(await migrate(database.url)).toEqual(names.slice(-2));
  });

  it('refuses to go on after a migration that failed, naming it and what to do', async () => {
    await migrate(database.url);
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [
      names[0],
    ]);
    await expect(migrate(database.url)).rejects.toThrow(
      new RegExp(`${names[0]} failed before.*migrate resolve`),
    );
  });

  it('refuses a server that is too old, and changes nothing there', async () => {
    await client.query(`
      CREATE SCHEMA older;
      CREATE FUNCTION older.current_setting(name text) RETURNS text LANGUAGE sql
        RETURN CASE name WHEN 'server_version_num' THEN '140011' ELSE '14.11' END;`);
    const { rows } = await client.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
    await client.query(`ALTER DATABASE ${rows[0]?.name} SET search_path = older, pg_catalog, public`);
    await expect(migrate(database.url)).rejects.toThrow(
      'DATABASE_URL is a PostgreSQL 14.11; 15 or newer is needed',
    );
    const { rows: made } = await client.query(`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`);
    expect(made).toEqual([]);
  });

  it('leaves no connection and no lock behind', async () => {
    await migrate(database.url);
    await waitFor('the connections to be gone', async () => {
      const { rows } = await client.query(`SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`);
      return rows.length === 0;
    });
  });
});
