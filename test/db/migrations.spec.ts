import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { withMigrationLock } from '../../src/platform/database/migrations/lock.js';
import { applyMissing, migrate } from '../../src/platform/database/migrations/migrate.js';
import { findApplicable } from '../../src/platform/database/migrations/records.js';
import { type Migration, readMigrations } from '../../src/platform/database/migrations/script.js';
import { CATALOGUE, differences, ONLY_IN_MIGRATIONS } from '../../scripts/check/catalogue.js';
import { sqlOfSchema } from '../../scripts/check/sql-of-schema.js';
import { useTestDatabase, useTestDatabases } from '../setup/database/test-database.js';
import { waitFor } from '../setup/wait-for.js';

describe('migrate', () => {
  const database = useTestDatabases('empty');
  let client: pg.Client;
  let migrations: Migration[];
  let names: string[];

  beforeEach(async () => {
    client = await database.connect();
    migrations = await readMigrations();
    names = migrations.map(({ name }) => name);
  });

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

  it('logs what the server warns of, with its hint', async () => {
    const logged = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    await withMigrationLock(database.url, (locked) =>
      locked.query(
        `DO $$ BEGIN RAISE NOTICE 'nothing'; RAISE WARNING 'a role' USING HINT = 'Make it'; END $$`,
      ),
    );
    expect(logged.mock.calls).toEqual([['a role. Make it']]);
    logged.mockRestore();
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

  it.each([
    ['again and again', 1, 2],
    ['once in a period, however often it looks', 60_000, 1],
  ])('logs whom it waits for %s', async (_, everyMs, lines) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const tries = jest.spyOn(pg.Client.prototype, 'query');
    const other = await database.connect();
    await other.query(`SET application_name = 'prisma'`);
    await other.query('SELECT pg_advisory_lock(72707369)');
    const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const waitLines = { firstAfterMs: 0, everyMs };
    const locked = withMigrationLock(database.url, () => Promise.resolve('done'), waitLines);
    const failed = () => tries.mock.calls.filter(([text]) => String(text).includes('pg_try_advisory_lock'));
    await waitFor('the fourth attempt', () => Promise.resolve(failed().length >= 4));
    const logged = warn.mock.calls.length;
    await other.query('SELECT pg_advisory_unlock(72707369)');
    expect(await locked).toBe('done');
    expect(Math.min(logged, 2)).toBe(lines);
    expect(warn.mock.calls[0]![0]).toMatch(
      new RegExp(
        `waits for the migrations of another process: process ${rows[0]!.pid} of PostgreSQL, ` +
          'connected since 20[-0-9]+ [:.+0-9]+ from 127\\.0\\.0\\.1, application_name prisma$',
      ),
    );
    warn.mockRestore();
    tries.mockRestore();
  });

  it('logs whose lock the migrations wait for, also from a process that waits for them', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const logged = (text: RegExp) =>
      waitFor(String(text), () => warn.mock.calls.some(([line]) => text.test(String(line))));
    const reader = await database.connect();
    await reader.query(`SET application_name = 'dump'; CREATE TABLE read (id int)`);
    await reader.query('BEGIN; SELECT FROM read');
    const waitLines = { firstAfterMs: 0, everyMs: 1 };
    const changed = withMigrationLock(database.url, (locked) => locked.query('DROP TABLE read'), waitLines);
    const blocker = 'process \\d+ of PostgreSQL, [^,]+, application_name dump$';
    await logged(new RegExp(`^the migrations wait for a lock of ${blocker}`));
    const second = withMigrationLock(database.url, () => Promise.resolve('done'), waitLines);
    await logged(
      new RegExp(
        `^waits for the migrations of another process: .*migrate, which waits for a lock of ${blocker}`,
      ),
    );
    await reader.query('ROLLBACK');
    await changed;
    expect(await second).toBe('done');
    warn.mockRestore();
  });

  it('lets statements pass while a reader keeps the table from being changed', async () => {
    await applyMissing(client, [TABLE]);
    const [reader, other] = [await database.connect(), await database.connect()];
    await reader.query('BEGIN; SELECT FROM entries');
    const applied = applyMissing(client, [TABLE, COLUMN]);
    const isWaiting = async () => (await other.query(WAITING)).rows.length > 0;
    for (const each of ['a wait', 'a further wait']) {
      await waitFor(each, isWaiting);
      await other.query('SELECT FROM entries');
    }
    await reader.query('ROLLBACK');
    expect(await applied).toEqual(['2_column']);
    expect(await recordsOf('2_column')).toEqual([APPLIED]);
  });
  const WAITING = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'entries'::regclass AND mode = 'AccessExclusiveLock'`;

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
    await client.query('CREATE TABLE entries (); ALTER EXTENSION plpgsql ADD TABLE entries');
    expect(await findApplicable(client, [TABLE])).toEqual([TABLE]);
    await client.query('CREATE TABLE invoices (day date) PARTITION BY LIST (day)');
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

describe('the views of the schema admin', () => {
  const database = useTestDatabases();
  let client: pg.Client;

  beforeEach(async () => {
    client = await database.connect();
  });

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
    await client.query('DROP VIEW admin.stalled; CREATE TABLE admin.stalled ()');
    await client.query(`COMMENT ON VIEW admin.api_keys IS 'mine'`);
    await forget();
    await expect(migrate(database.url)).rejects.toThrow('"stalled" is not a view');
    const { rows } = await client.query(`SELECT obj_description('admin.api_keys'::regclass) AS comment`);
    expect(rows).toEqual([{ comment: 'mine' }]);
  });
});

const SCHEMA = new URL('../../prisma/schema.prisma', import.meta.url).pathname;

describe('the drift check', () => {
  const migrated = useTestDatabase();
  const declared = useTestDatabase('empty');
  let client: pg.Client;
  let declaredFacts: Set<string>;

  beforeAll(async () => {
    client = await migrated.connect();
    const pool = new pg.Pool({ connectionString: declared.url });
    await pool.query(await sqlOfSchema(pool, SCHEMA));
    declaredFacts = await factsOf(pool);
    await pool.end();
  });

  async function factsOf(database: pg.Pool | pg.Client): Promise<Set<string>> {
    const { rows } = await database.query<{ fact: string }>(CATALOGUE);
    return new Set(rows.map(({ fact }) => fact));
  }

  const drift = async () => differences(await factsOf(client), declaredFacts, ONLY_IN_MIGRATIONS);

  it('finds none between the schema and the migrations', async () => {
    expect(await drift()).toEqual([]);
  });

  it.each([
    ['a column', 'ALTER TABLE users ADD COLUMN extra text'],
    [
      'a type',
      'DROP SCHEMA admin CASCADE; ALTER TABLE remote_tokens ALTER COLUMN last_error TYPE varchar(50)',
    ],
    ['a default', 'ALTER TABLE registrations ALTER COLUMN attempts SET DEFAULT 1'],
    ['nullability', 'ALTER TABLE users ALTER COLUMN tenant_name DROP NOT NULL'],
    ['an index', 'CREATE INDEX extra ON inverters (missing_since)'],
    ['a dropped index', 'DROP INDEX onboarding_sessions_user_id_idx'],
    ['a foreign key', 'ALTER TABLE inverters DROP CONSTRAINT inverters_session_id_fkey'],
  ])('finds %s that only one of them has', async (_, change) => {
    await client.query(`BEGIN; ${change}`);
    expect(await drift()).not.toEqual([]);
    await client.query('ROLLBACK');
  });
});

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
