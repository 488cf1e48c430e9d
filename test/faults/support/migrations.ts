import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { MIGRATIONS_FOLDER } from '../../../src/platform/database/migrate.js';
import { applyMigrations, readMigrations } from '../../../src/platform/database/schema-engine.js';

async function withPool<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Brings an empty database to where it was after the first `count` migrations, the job queue's with them. */
export async function migrateTo(url: string, count: number): Promise<void> {
  const all = await readMigrations(MIGRATIONS_FOLDER);
  const older = { ...all, migrationDirectories: all.migrationDirectories.slice(0, count) };
  await withPool(url, async (pool) => {
    await applyMigrations(pool, older);
    await runMigrations({ pgPool: pool });
  });
}

/** What went wrong when several migrated a database at once of which the first `done` migrations were applied. */
export async function faultsOfMigrating(
  url: string,
  replicas: number,
  migrateAs: (url: string) => Promise<string[]>,
  done = 0,
): Promise<string[]> {
  const runs = await Promise.allSettled(Array.from({ length: replicas }, () => migrateAs(url)));
  const applied = runs.flatMap((run) => (run.status === 'fulfilled' ? run.value : []));
  const { migrationDirectories } = await readMigrations(MIGRATIONS_FOLDER);
  return [
    ...runs.filter((run) => run.status === 'rejected').map((run) => `failed: ${String(run.reason)}`),
    ...migrationDirectories
      .slice(done)
      .map(({ path }) => ({ path, times: applied.filter((name) => name === path).length }))
      .filter(({ times }) => times !== 1)
      .map(({ path, times }) => `${path} was applied ${times} times`),
  ];
}

/** The bug: neither our lock nor the engine's own. */
export const migrateWithoutLock = (url: string): Promise<string[]> =>
  withPool(url, async (pool) => {
    const query = pool.query.bind(pool);
    const unlocked = (statement: { text: string }) =>
      query(
        statement.text?.includes('pg_advisory_lock')
          ? { ...statement, text: 'SELECT 1', values: [] }
          : statement,
      );
    Object.assign(pool, { query: unlocked });
    const applied = await applyMigrations(pool, await readMigrations(MIGRATIONS_FOLDER));
    await runMigrations({ pgPool: pool });
    return applied;
  });
