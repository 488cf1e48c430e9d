import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import pg from 'pg';
import { applyMissing, migrate, MIGRATIONS_FOLDER } from '../../src/platform/database/migrate.js';
import { createTestDatabase, type TestDatabase } from '../setup/test-database.js';
import { waitFor } from '../setup/wait-for.js';

describe('migrate', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let names: string[];

  beforeEach(async () => {
    database = await createTestDatabase('empty');
    client = await database.connect();
    names = (await readdir(MIGRATIONS_FOLDER)).filter((name) => !name.endsWith('.toml')).sort();
  });
  afterEach(() => database.drop());

  it('applies every migration, ours and those of the job queue, and then nothing more', async () => {
    expect(await migrate(database.url)).toEqual(names);
    const { rows } = await client.query(
      `SELECT to_regclass('users') AS ours, to_regclass('graphile_worker.jobs') AS jobs`,
    );
    expect(rows).toEqual([{ ours: 'users', jobs: 'graphile_worker.jobs' }]);
    expect(await migrate(database.url)).toEqual([]);
  });

  it('applies what is missing in the order of the names', async () => {
    const pool = new pg.Pool({ connectionString: database.url });
    await applyMissing(pool, names.slice(0, -2));
    await pool.end();
    expect(await migrate(database.url)).toEqual(names.slice(-2));
  });

  it('gives existing keys the new scopes for what they could do, except revoked keys', async () => {
    const pool = new pg.Pool({ connectionString: database.url });
    await applyMissing(
      pool,
      names.filter((name) => name < names.find((each) => each.endsWith('_scopes_for_support'))!),
    );
    await pool.end();
    await client.query(`INSERT INTO api_keys (name, scopes, key_hash, created_by, revoked_at) VALUES
      ('app', '{users:write,onboarding:write}', sha256('1'), 'cli', NULL),
      ('reader', '{users:read,onboarding:read}', sha256('2'), 'cli', NULL),
      ('revoked', '{users:write}', sha256('3'), 'cli', now()),
      ('starts', '{onboarding:write}', sha256('4'), 'cli', NULL)`);
    await migrate(database.url);
    const { rows } = await client.query('SELECT name, scopes FROM api_keys ORDER BY name');
    expect(rows).toEqual([
      {
        name: 'app',
        scopes: ['users:write', 'onboarding:write', 'users:erase', 'registrations:decide', 'links:read'],
      },
      { name: 'reader', scopes: ['users:read', 'onboarding:read'] },
      { name: 'revoked', scopes: ['users:write'] },
      { name: 'starts', scopes: ['onboarding:write', 'links:read'] },
    ]);
  });

  it('refuses to continue after a migration that failed, naming it and what to do', async () => {
    await migrate(database.url);
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [
      names[0],
    ]);
    await expect(migrate(database.url)).rejects.toThrow(
      new RegExp(`${names[0]} failed before.*migrate resolve`),
    );
  });

  /** Returns whether `migrate` has ended an attempt to lock, and waits for the next one. */
  const isWaiting = async (): Promise<boolean> => {
    const { rows } = await client.query(`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE '% migrate' AND query = 'ROLLBACK'`);
    return rows.length === 1;
  };

  it('waits for a migration by Prisma, and does not block its CREATE INDEX CONCURRENTLY', async () => {
    await client.query('CREATE SCHEMA other CREATE TABLE other.entries (id int)');
    await client.query('SELECT pg_advisory_lock(72707369)');
    const migrated = migrate(database.url);
    await waitFor('an attempt to lock', isWaiting);
    await client.query(`SET statement_timeout = '25s'`);
    await client.query('CREATE INDEX CONCURRENTLY ON other.entries (id)');
    const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') AS records`);
    expect(rows).toEqual([{ records: null }]);
    await client.query('SELECT pg_advisory_unlock(72707369)');
    expect(await migrated).toEqual(names);
  }, 60_000);

  it('ends its transaction after each attempt to lock', async () => {
    await client.query('SELECT pg_advisory_lock(72707369)');
    const migrated = migrate(database.url);
    // CREATE INDEX CONCURRENTLY of the process that has the lock would wait for the end of such a transaction.
    await waitFor('a wait without a transaction', isWaiting);
    await client.query('SELECT pg_advisory_unlock(72707369)');
    expect(await migrated).toEqual(names);
  });

  it('refuses to continue after a failure of a migration that also succeeded', async () => {
    await migrate(database.url);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at) VALUES ('failed', '', $1, 'epoch')`,
      [names[0]],
    );
    // Rewrites the other rows, so that a query returns the failed one first.
    await client.query('UPDATE _prisma_migrations SET logs = NULL WHERE finished_at IS NOT NULL');
    await expect(migrate(database.url)).rejects.toThrow(`${names[0]} failed before`);
  });

  it('records a migration that fails, names it with its error, and is refused from then on', async () => {
    const failing = '20261122010000_webhook_subjects';
    const pool = new pg.Pool({ connectionString: database.url });
    await applyMissing(pool, names.slice(0, names.indexOf(failing)));
    await pool.end();
    await client.query('CREATE TABLE webhook_subjects ()');
    await expect(migrate(database.url)).rejects.toThrow(
      `the migration ${failing} failed: error: relation "webhook_subjects" already exists`,
    );
    await expect(migrate(database.url)).rejects.toThrow(`${failing} failed before`);
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
