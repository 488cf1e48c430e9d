import type pg from 'pg';
import type { Sql } from '../database.js';
import { sqlState } from '../sql-state.js';
import { MigrationError, readMigrationNames, type Migration } from './script.js';

const UNDEFINED_TABLE = '42P01';

// This is Prisma's own table of migrations, so that Prisma's command line can read and correct it. We apply the migrations ourselves,
// because Prisma would download an engine to apply them.
export const CREATE_RECORDS = `
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

const FIND_APPLIED =
  'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';

/** Returns the names of the migrations that are not applied, or null if the database has no record of migrations. */
export async function findMissingMigrations(sql: Sql): Promise<string[] | null> {
  try {
    const applied = new Set((await sql.query<{ name: string }>(FIND_APPLIED)).map(({ name }) => name));
    return (await readMigrationNames()).filter((name) => !applied.has(name));
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return null;
    throw error;
  }
}

/**
 * Locks a row and resolves after the commit. Throws the error of the database if it does not accept writes. PostgreSQL writes a row lock to
 * the write-ahead log, so the commit waits for a synchronous standby, as with any write. A row lock needs no separate table and blocks no
 * other check.
 */
export const proveWritable = (sql: Sql): Promise<unknown> =>
  sql.query('SELECT FROM _prisma_migrations ORDER BY started_at LIMIT 1 FOR KEY SHARE');

/** Returns the migrations that are not applied. Throws if the database belongs to another program, or if its schema is too old. */
export async function findApplicable(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<Migration[]> {
  // Ignores tables of extensions, which a new database may contain.
  const { rows: tables } = await client.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = quote_ident(current_schema())::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')`);
  if (!tables.some(({ name }) => name === '_prisma_migrations')) {
    if (tables.length === 0) return [...migrations];
    throw new MigrationError('DATABASE_URL leads to tables of another program; an empty database is needed');
  }
  const applied = await readApplied(client);
  const missing = migrations.filter(({ name }) => !applied.includes(name));
  const [oldest] = applied.toSorted();
  if (oldest !== undefined && migrations[0] !== undefined && oldest < migrations[0].name) {
    throw new MigrationError(
      `DATABASE_URL leads to a schema that is too old for this release: it begins with the migration ${oldest}, which this release ` +
        'does not have. Start with an empty database, or with a release that knows the migration',
    );
  }
  return missing;
}

/** Returns whether a later release has migrated the database. */
export async function isNewer(client: pg.ClientBase, migrations: readonly Migration[]): Promise<boolean> {
  const applied = await readApplied(client);
  return applied.some((name) => !migrations.some((known) => known.name === name));
}

async function readApplied(client: pg.ClientBase): Promise<string[]> {
  return (await client.query<{ name: string }>(FIND_APPLIED)).rows.map(({ name }) => name);
}
