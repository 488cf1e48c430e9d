import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { applyMigrations, readMigrations } from './schema-engine.js';

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/**
 * An arbitrary number. The replica that holds this lock migrates; the replicas that waited for it find nothing left to do. The engine's own
 * lock does not suffice: waiters give up after 10 s, and it does not cover the tables of graphile-worker.
 */
const MIGRATION_LOCK = 7_310_000;
const OLDEST_SERVER = 150_000;

/** The schema cannot be migrated without a person's help. */
export class MigrationError extends Error {}

/**
 * Migrates our schema and graphile-worker's; returns the names of the applied migrations. Safe to run in any number of replicas at once.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 4,
    application_name: 'pv-onboarding migrate',
  });
  // A lost connection fails the statement running on it; without these handlers it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}).on('notice', passOn));
  const lock = await pool.connect();
  try {
    await refuseOldServer(lock);
    // The engine uses its own connections, so the lock is held on a separate one, in a transaction that does nothing else. The lock ends
    // with the connection: a replica that dies leaves none behind.
    await lock.query('BEGIN');
    await lock.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const applied = await applyMissing(pool);
    await runMigrations({ pgPool: pool });
    await lock.query('COMMIT');
    return applied;
  } finally {
    lock.release(true);
    await pool.end();
  }
}

/**
 * Logs the server's warnings. A migration that leaves work to an administrator raises one, which would otherwise appear only in the
 * server's log.
 */
function passOn({ severity, message, hint }: { severity?: string; message?: string; hint?: string }): void {
  if (severity === 'WARNING') new Logger('Migrations').warn([message, hint].filter(Boolean).join('. '));
}

async function applyMissing(pool: pg.Pool): Promise<string[]> {
  const migrations = await readMigrations(MIGRATIONS_FOLDER);
  const recorded = await readRecorded(pool);
  const failed = [...recorded].find(([, finished]) => !finished);
  if (failed !== undefined) {
    throw new MigrationError(
      `the migration ${failed[0]} failed before, so nothing more is applied. Look at what it left, then mark it with ` +
        '`npx prisma migrate resolve --applied` or `--rolled-back`, or delete its row in _prisma_migrations to have it run again',
    );
  }
  // The engine is 3 MB of WebAssembly, and nearly every start has nothing to apply.
  if (migrations.migrationDirectories.every(({ path }) => recorded.get(path) === true)) return [];
  return applyMigrations(pool, migrations);
}

async function readRecorded(pool: pg.Pool): Promise<Map<string, boolean>> {
  const { rows: tables } = await pool.query(`SELECT 1 FROM information_schema.tables
    WHERE table_name = '_prisma_migrations' AND table_schema = current_schema()`);
  if (tables.length === 0) return new Map();
  const { rows } = await pool.query<{ migration_name: string; finished: boolean }>(
    'SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  );
  return new Map(rows.map((row) => [row.migration_name, row.finished]));
}

async function refuseOldServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: string; name: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name`,
  );
  const [server] = rows;
  if (Number(server?.number) < OLDEST_SERVER) {
    throw new MigrationError(`DATABASE_URL is a PostgreSQL ${server?.name}; 15 or newer is needed`);
  }
}
