import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { sqlState, type Sql } from './database.js';
import { withoutTimeouts } from './settings.js';

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/** The advisory lock of Prisma's command line. The first process migrates; the others wait and find nothing left to do. */
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(72707369) AS locked';
const LOCK_POLL_MS = 200;
const OLDEST_SERVER = 150_000;
const UNDEFINED_TABLE = '42P01';

// Prisma's own table of migrations, so that Prisma's command line can read and correct it. We apply the migrations ourselves,
// because Prisma would download an engine for that.
const CREATE_RECORDS = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id varchar(36) PRIMARY KEY,
    checksum varchar(64) NOT NULL,
    finished_at timestamptz,
    migration_name varchar(255) NOT NULL,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`;

/** A refused or failed migration. The message is for operators. */
export class MigrationError extends Error {}

/** Migrates our schema and graphile-worker's; returns the names of the applied migrations. Replicas may call it at the same time. */
export const migrate = (databaseUrl: string): Promise<string[]> =>
  withMigrationLock(databaseUrl, async (pool) => {
    const applied = await applyMissing(pool, await readMigrations());
    await runMigrations({ pgPool: pool });
    return applied;
  });

/** Runs `work` while no other process migrates. Throws if the server is unfit. */
export async function withMigrationLock<T>(
  databaseUrl: string,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: 'pv-onboarding migrate',
    ...withoutTimeouts,
  });
  // Without these handlers, a lost connection would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}).on('notice', warn));
  const lock = await pool.connect();
  try {
    await refuseUnfitServer(lock);
    await lockMigrations(lock);
    const result = await work(pool);
    await lock.query('COMMIT');
    return result;
  } finally {
    lock.release(true);
    await pool.end();
  }
}

/**
 * Opens a transaction for the lock alone, since migrations may commit. The lock ends with the connection, even if the replica dies.
 *
 * Each attempt is a transaction of its own: CREATE INDEX CONCURRENTLY waits for the end of every transaction in which it saw a
 * running statement. A replica that stayed in one while it waited for the lock would block the replica that has the lock.
 */
async function lockMigrations(client: pg.PoolClient): Promise<void> {
  for (;;) {
    await client.query('BEGIN');
    if ((await client.query<{ locked: boolean }>(TRY_LOCK)).rows[0]!.locked) return;
    await client.query('ROLLBACK');
    await sleep(LOCK_POLL_MS);
  }
}

/** Returns the names of all migrations, in the order in which they are applied. */
export async function readMigrations(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS_FOLDER, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).sort();
}

const FIND_APPLIED =
  'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';

/** Returns the names of the migrations that are not applied, or null if the database has no record of migrations. */
export async function findMissingMigrations(sql: Sql): Promise<string[] | null> {
  try {
    const applied = new Set((await sql.query<{ name: string }>(FIND_APPLIED)).map(({ name }) => name));
    return (await readMigrations()).filter((name) => !applied.has(name));
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return null;
    throw error;
  }
}

/**
 * Resolves once a write is committed. Throws the error of the database if it does not accept writes. Locks a row, because PostgreSQL writes a
 * row lock to the write-ahead log, and its commit waits for a synchronous standby, as with any write. A row lock needs no separate table,
 * and blocks no other check.
 */
export const proveWritable = (sql: Sql): Promise<unknown> =>
  sql.query('SELECT FROM _prisma_migrations ORDER BY started_at LIMIT 1 FOR KEY SHARE');

/** Applies the migrations in `names` that are missing, in order. Returns the names of the applied migrations. */
export async function applyMissing(pool: pg.Pool, names: readonly string[]): Promise<string[]> {
  const missing = await findApplicable(pool, names);
  if (missing.length > 0) await pool.query(CREATE_RECORDS);
  for (const name of missing) await apply(pool, name);
  return missing;
}

/** Returns which of `names` would be applied. Throws if none may be applied. */
export async function findApplicable(pool: pg.Pool, names: readonly string[]): Promise<string[]> {
  const recorded = await readRecorded(pool);
  const failed = recorded.find(({ isFinished }) => !isFinished);
  if (failed !== undefined) {
    throw new MigrationError(
      `the migration ${failed.name} failed before, so nothing more is applied. Check what it left behind, then mark it with ` +
        '`npx prisma migrate resolve --applied NAME` or `--rolled-back NAME` (with DATABASE_URL, and a network to download its engine), ' +
        'or delete its row in _prisma_migrations to have it run again',
    );
  }
  return names.filter((name) => !recorded.some((each) => each.name === name));
}

async function apply(pool: pg.Pool, name: string): Promise<void> {
  const script = await readFile(join(MIGRATIONS_FOLDER, name, 'migration.sql'), 'utf8');
  const id = randomUUID();
  const checksum = createHash('sha256').update(script).digest('hex');
  const insert = 'INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)';
  await pool.query(insert, [id, checksum, name]);
  try {
    await pool.query(script);
  } catch (error) {
    await pool.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, String(error)]);
    throw new MigrationError(`the migration ${name} failed: ${String(error)}`, { cause: error });
  }
  const finish = 'UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1';
  await pool.query(finish, [id]);
}

/** Returns the recorded migrations that were not rolled back. Throws if the database belongs to another program. */
async function readRecorded(pool: pg.Pool) {
  // Ignores tables of extensions, which a new database may contain.
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = quote_ident(current_schema())::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')`);
  if (!tables.some(({ name }) => name === '_prisma_migrations')) {
    if (tables.length === 0) return [];
    throw new MigrationError('DATABASE_URL leads to tables of another program; an empty database is needed');
  }
  const { rows } = await pool.query<{ name: string; isFinished: boolean }>(`
    SELECT migration_name AS name, finished_at IS NOT NULL AS "isFinished"
    FROM _prisma_migrations WHERE rolled_back_at IS NULL`);
  return rows;
}

/** Logs the warnings of the server. A migration raises one if an administrator has to act. */
function warn({ severity, message, hint }: { severity?: string; message?: string; hint?: string }): void {
  if (severity === 'WARNING') new Logger('Migrations').warn([message, hint].filter(Boolean).join('. '));
}

/** Throws if the server is too old, or if its database could not store every character. */
async function refuseUnfitServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: string; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name,
            current_setting('server_encoding') AS encoding`,
  );
  const { number, name, encoding } = rows[0]!;
  if (Number(number) < OLDEST_SERVER)
    throw new MigrationError(`DATABASE_URL is a PostgreSQL ${name}; 15 or newer is needed`);
  if (encoding !== 'UTF8')
    throw new MigrationError(
      `DATABASE_URL leads to a database with the encoding ${encoding}; create one with ENCODING 'UTF8'`,
    );
}
