import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { withMigrationLock } from '../../src/platform/database/migrations/lock.js';
import { applyMissing, migrate } from '../../src/platform/database/migrations/migrate.js';
import { readMigrations, type Migration } from '../../src/platform/database/migrations/script.js';
import { createTestDatabase, type TestDatabase } from '../setup/database/test-database.js';
import { waitFor } from '../setup/wait-for.js';

describe('migrate', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let migrations: Migration[];
  let names: string[];

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    client = await database.connect();
    migrations = await readMigrations();
    names = migrations.map(({ name }) => name);
  });
  afterEach(() => database.drop());

  it('applies every migration, and then nothing more', async () => {
    expect(await migrate(database.url)).toEqual(names);
    expect((await client.query(`SELECT to_regclass('users') AS name`)).rows).toEqual([{ name: 'users' }]);
    expect(await migrate(database.url)).toEqual([]);
  });

  const TABLE = { name: '1_table', script: 'CREATE TABLE entries (name text)' };
  const COLUMN = {
    name: '2_column',
    script: 'CREATE TABLE others (); ALTER TABLE entries ADD COLUMN at date',
  };

  it('applies what is missing in the given order', async () => {
    await applyMissing(client, [TABLE]);
    expect(await applyMissing(client, [TABLE, COLUMN])).toEqual(['2_column']);
  });

  /** Returns whether `migrate` has tried to lock, has no open transaction, and waits for the next attempt. */
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await client.query(`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE '% migrate' AND state = 'idle'
        AND query LIKE '%pg_try_advisory_lock%'`);
    return rows.length === 1;
  };

  it('waits for a migration by Prisma, and does not block its CREATE INDEX CONCURRENTLY', async () => {
    await client.query('CREATE SCHEMA other CREATE TABLE other.entries (id int)');
    await client.query('SELECT pg_advisory_lock(72707369)');
    const migrated = migrate(database.url);
    // The process with the lock may run CREATE INDEX CONCURRENTLY, which would wait for the end of a transaction of the waiting process.
    await waitFor('a wait without a transaction', isWaiting);
    await client.query(`SET statement_timeout = '25s'`);
    await client.query('CREATE INDEX CONCURRENTLY ON other.entries (id)');
    const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') AS records`);
    expect(rows).toEqual([{ records: null }]);
    await client.query('SELECT pg_advisory_unlock(72707369)');
    expect(await migrated).toEqual(names);
  });

  it('logs whom it waits for, again and again', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const other = await database.connect();
    await other.query(`SET application_name = 'prisma'`);
    await other.query('SELECT pg_advisory_lock(72707369)');
    const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const locked = withMigrationLock(database.url, () => Promise.resolve('done'), {
      firstAfterMs: 0,
      everyMs: 1,
    });
    await waitFor('two lines', () => Promise.resolve(warn.mock.calls.length >= 2));
    await other.query('SELECT pg_advisory_unlock(72707369)');
    expect(await locked).toBe('done');
    expect(warn.mock.calls[0]![0]).toMatch(
      new RegExp(
        `waits for the migrations of another process: process ${rows[0]!.pid} of PostgreSQL, ` +
          'connected since 20[-0-9]+ [:.+0-9]+ from 127\\.0\\.0\\.1, application_name prisma$',
      ),
    );
    warn.mockRestore();
  });

  const recordsOf = async (name: string) => {
    const { rows } = await client.query<{ finished: boolean; rolledBack: boolean; logs: string | null }>(
      `SELECT finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS "rolledBack", logs
       FROM _prisma_migrations WHERE migration_name = $1 ORDER BY started_at`,
      [name],
    );
    return rows;
  };
  const APPLIED = { finished: true, rolledBack: false, logs: null };

  it('applies a migration that was interrupted, and marks its earlier record as rolled back', async () => {
    await applyMissing(client, [TABLE]);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('interrupted', '', '2_column')`,
    );
    expect(await applyMissing(client, [TABLE, COLUMN])).toEqual(['2_column']);
    expect(await recordsOf('2_column')).toEqual([{ finished: false, rolledBack: true, logs: null }, APPLIED]);
  });

  it('ignores an interrupted run of a migration that is applied', async () => {
    await migrate(database.url);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at) VALUES ('interrupted', '', $1, 'epoch')`,
      [names[0]],
    );
    expect(await migrate(database.url)).toEqual([]);
  });

  it('names a migration that fails, with its error, leaves nothing of it, and applies it once the cause is gone', async () => {
    await applyMissing(client, [TABLE]);
    // The script fails after its first statement.
    await client.query('ALTER TABLE entries ADD COLUMN at date');
    await expect(applyMissing(client, [TABLE, COLUMN])).rejects.toThrow(
      'the migration 2_column failed: error: column "at" of relation "entries" already exists',
    );
    expect(await recordsOf('2_column')).toEqual([]);
    await client.query('ALTER TABLE entries DROP COLUMN at');
    expect(await applyMissing(client, [TABLE, COLUMN])).toEqual(['2_column']);
    expect(await recordsOf('2_column')).toEqual([APPLIED]);
  });

  it('refuses a schema that is too old for this release, and names its first migration', async () => {
    await applyMissing(client, [{ name: '20260101000000_before', script: 'CREATE TABLE entries ()' }]);
    await expect(migrate(database.url)).rejects.toThrow(
      'DATABASE_URL leads to a schema that is too old for this release: it begins with the migration 20260101000000_before',
    );
  });

  it('refuses a database with tables of another program', async () => {
    await client.query('CREATE TABLE invoices ()');
    await expect(migrate(database.url)).rejects.toThrow('an empty database is needed');
  });

  it('refuses a server that is too old, and changes nothing there', async () => {
    const query = pg.Client.prototype.query;
    const older = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args: unknown[]
    ) {
      const [text, ...others] = args;
      const changed =
        typeof text === 'string'
          ? text
              .replace(`current_setting('server_version_num')`, `'140011'`)
              .replace(`current_setting('server_version')`, `'14.11'`)
          : text;
      return Reflect.apply(query, this, [changed, ...others]) as ReturnType<typeof query>;
    });
    await expect(migrate(database.url)).rejects.toThrow(
      'DATABASE_URL is a PostgreSQL 14.11; 15 or newer is needed',
    );
    older.mockRestore();
    const { rows: tables } = await client.query(`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`);
    expect(tables).toEqual([]);
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
