import { runMigrations } from 'graphile-worker';
import pg from 'pg';
import { applyMissing } from '../../../src/platform/database/migrations/migrate.js';
import { readMigrations } from '../../../src/platform/database/migrations/script.js';

/** Migrates as `migrate` does, but without its lock. */
async function migrateUnlocked(url: string, names: readonly string[]): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    const client = await pool.connect();
    const applied = await applyMissing(client, names).finally(() => client.release());
    await runMigrations({ pgPool: pool });
    return applied;
  } finally {
    await pool.end();
  }
}

/** Applies the first `count` migrations, and those of the job queue, to an empty database. */
export async function migrateTo(url: string, count: number): Promise<void> {
  await migrateUnlocked(url, (await readMigrations()).slice(0, count));
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

export const migrateWithoutLock = async (url: string): Promise<string[]> =>
  migrateUnlocked(url, await readMigrations());
