import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { applyMissing, readMigrations } from '../../../src/platform/database/migrate.js';

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

/** Applies the first `count` migrations, and those of the job queue, to an empty database. */
export async function migrateTo(url: string, count: number): Promise<void> {
  const older = (await readMigrations()).slice(0, count);
  await withPool(url, async (pool) => {
    await applyMissing(pool, older);
    await runMigrations({ pgPool: pool });
  });
}

/** Migrates a database from several replicas at once. Returns the faults. The first `done` migrations are applied already. */
export async function faultsOfMigrating(
  url: string,
  replicas: number,
  migrateAs: (url: string) => Promise<string[]>,
  done = 0,
): Promise<string[]> {
  const runs = await Promise.allSettled(Array.from({ length: replicas }, () => migrateAs(url)));
  const applied = runs.flatMap((run) => (run.status === 'fulfilled' ? run.value : []));
  const names = await readMigrations();
  return [
    ...runs.filter((run) => run.status === 'rejected').map((run) => `failed: ${String(run.reason)}`),
    ...names
      .slice(done)
      .map((name) => ({ name, times: applied.filter((each) => each === name).length }))
      .filter(({ times }) => times !== 1)
      .map(({ name, times }) => `${name} was applied ${times} times`),
  ];
}

export const migrateWithoutLock = (url: string): Promise<string[]> =>
  withPool(url, async (pool) => {
    const applied = await applyMissing(pool, await readMigrations());
    await runMigrations({ pgPool: pool });
    return applied;
  });
