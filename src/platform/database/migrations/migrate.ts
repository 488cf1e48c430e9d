import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { withMigrationLock } from './lock.js';
import { MigrationError } from './error.js';
import { CREATE_RECORDS, findApplicable, isNewer } from './records.js';
import { digestOf, isTransactional, readMigrations, type Migration } from './script.js';
import { createViews } from './views.js';

/** Migrates the schema; returns the names of the applied migrations. Replicas may call it at the same time. */
export const migrate = (databaseUrl: string): Promise<string[]> =>
  withMigrationLock(databaseUrl, async (client) => {
    const migrations = await readMigrations();
    const applied = await applyMissing(client, migrations);
    // The views of a later release stay, since an earlier release does not know what they read.
    if (!(await isNewer(client, migrations))) await createViews(client);
    return applied;
  });

/** Applies those of `migrations` that are missing, in order. Returns their names. */
export async function applyMissing(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<string[]> {
  const missing = await findApplicable(client, migrations);
  if (missing.length > 0) await client.query(CREATE_RECORDS);
  for (const migration of missing) await apply(client, migration);
  return missing.map(({ name }) => name);
}

async function apply(client: pg.ClientBase, migration: Migration): Promise<void> {
  const applyTo = isTransactional(migration) ? applyAtOnce : applyInParts;
  try {
    await applyTo(client, migration);
  } catch (error) {
    const advice = (await isBegunElsewhere(client, migration)) ? ADVICE : '';
    const message = `the migration ${migration.name} failed: ${String(error)}${advice}`;
    throw new MigrationError(message, { cause: error });
  }
}

/** Returns whether Prisma, or a release that recorded a migration before it applied it, has left a record that did not finish. */
async function isBegunElsewhere(client: pg.ClientBase, { name }: Migration): Promise<boolean> {
  try {
    return (await client.query(FIND_UNFINISHED, [name])).rows.length > 0;
  } catch {
    // The connection is lost.
    return false;
  }
}

const FIND_UNFINISHED =
  'SELECT FROM _prisma_migrations WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL';
const ADVICE =
  '. Prisma or an earlier release has begun it before. If its changes are there, set finished_at of its row in _prisma_migrations';

/** Applies a migration and records it in one transaction, so that neither exists without the other, whenever the process ends. */
async function applyAtOnce(client: pg.ClientBase, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    const id = await insertRecord(client, migration);
    await client.query(migration.script);
    await finishRecord(client, id);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Applies a migration that cannot run in one transaction. If the process ends meanwhile, the next start applies it again. */
async function applyInParts(client: pg.ClientBase, migration: Migration): Promise<void> {
  const id = await insertRecord(client, migration);
  try {
    await dropInvalidIndexes(client, migration);
    await client.query(migration.script);
  } catch (error) {
    await client.query(FAIL_RECORD, [id, String(error)]).catch(() => {});
    throw error;
  }
  await finishRecord(client, id);
}

/** Inserts the record of a migration that begins. Marks earlier records of it, which did not finish, as rolled back. */
async function insertRecord(client: pg.ClientBase, { name, script }: Migration): Promise<string> {
  const id = randomUUID();
  await client.query(ROLL_BACK_EARLIER, [name]);
  await client.query(INSERT_RECORD, [id, digestOf(script), name]);
  return id;
}

const finishRecord = (client: pg.ClientBase, id: string) => client.query(FINISH_RECORD, [id]);

const ROLL_BACK_EARLIER = `
  UPDATE _prisma_migrations SET rolled_back_at = clock_timestamp()
  WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`;
const INSERT_RECORD = 'INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)';
const FINISH_RECORD =
  'UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1';
const FAIL_RECORD =
  'UPDATE _prisma_migrations SET logs = $2, rolled_back_at = clock_timestamp() WHERE id = $1';

/** Drops what an interrupted CREATE INDEX CONCURRENTLY of the script left behind: IF NOT EXISTS would take it for the index. */
async function dropInvalidIndexes(client: pg.ClientBase, { script }: Migration): Promise<void> {
  const { rows } = await client.query<{ drop: string }>(FIND_INVALID_INDEXES, [script]);
  for (const { drop } of rows) await client.query(drop);
}

const FIND_INVALID_INDEXES = `
  SELECT format('DROP INDEX CONCURRENTLY %s', indexrelid::regclass) AS drop
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE NOT indisvalid AND strpos($1, format('INDEX CONCURRENTLY IF NOT EXISTS "%s"', relname)) > 0`;
