import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { LOCK_NOT_AVAILABLE, sqlState } from '../sql-state.js';
import { withMigrationLock } from './lock.js';
import { CREATE_RECORDS, findApplicable, isNewer } from './records.js';
import { digestOf, MigrationError, readMigrations, type Migration } from './script.js';
import { createViews } from './views.js';

/** Migrates the schema; returns the names of the applied migrations. Replicas may call it at the same time. */
export const migrate = (databaseUrl: string): Promise<string[]> =>
  withMigrationLock(databaseUrl, async (client) => {
    const migrations = await readMigrations();
    const applied = await applyMissing(client, migrations);
    // Keeps the views of a later release, since this release does not know the schema that they read.
    if (!(await isNewer(client, migrations))) await createViews(client);
    return applied;
  });

/** Applies the missing ones of `migrations`, in order. Returns their names. */
export async function applyMissing(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<string[]> {
  const missing = await findApplicable(client, migrations);
  if (missing.length > 0) await client.query(CREATE_RECORDS);
  for (const migration of missing) while (!(await apply(client, migration))) await sleep(PAUSE_MS);
  return missing.map(({ name }) => name);
}

/**
 * Applies a migration and records it in one transaction, so that neither exists without the other, even if the process is killed. Returns
 * false if another session, such as a dump, has a lock. While the migration waits for it, all later statements on the table wait, too. So
 * it waits only briefly, and starts again after a pause in which they are executed.
 */
async function apply(client: pg.ClientBase, { name, script }: Migration): Promise<boolean> {
  try {
    await client.query(BEGIN);
    await client.query(ROLL_BACK_UNFINISHED, [name]);
    await client.query(script);
    await client.query(INSERT_RECORD, [randomUUID(), digestOf(script), name]);
    await client.query('COMMIT');
    return true;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return false;
    throw new MigrationError(`the migration ${name} failed: ${String(error)}`, { cause: error });
  }
}

const BEGIN = `BEGIN; SET LOCAL lock_timeout = '1s'`;
const PAUSE_MS = 1_000;

// Marks as rolled back a record that an interrupted run of Prisma's command line left.
const ROLL_BACK_UNFINISHED = `
  UPDATE _prisma_migrations SET rolled_back_at = clock_timestamp()
  WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`;
const INSERT_RECORD = `
  INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
  VALUES ($1, $2, $3, clock_timestamp(), 1)`;
