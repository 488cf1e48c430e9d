import pg from 'pg';
import { applyMissing } from '../../../src/platform/database/migrations/migrate.js';
import { readMigrationNames, readMigrations } from '../../../src/platform/database/migrations/script.js';

/** Migrates a database from several replicas at once. Returns the faults. */
export async function faultsOfMigrating(
  url: string,
  replicas: number,
  migrateAs: (url: string) => Promise<string[]>,
): Promise<string[]> {
  const runs = await Promise.allSettled(Array.from({ length: replicas }, () => migrateAs(url)));
  const applied = runs.flatMap((run) => (run.status === 'fulfilled' ? run.value : []));
  return [
    ...runs.filter((run) => run.status === 'rejected').map((run) => `failed: ${String(run.reason)}`),
    ...(await readMigrationNames())
      .map((name) => ({ name, times: applied.filter((each) => each === name).length }))
      .filter(({ times }) => times !== 1)
      .map(({ name, times }) => `${name} was applied ${times} times`),
  ];
}

/** Migrates as `migrate` does, but without its lock. */
export async function migrateWithoutLock(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await applyMissing(client, await readMigrations());
  } finally {
    await client.end();
  }
}
