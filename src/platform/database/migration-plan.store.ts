import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findApplicable, MIGRATIONS_FOLDER, readMigrations, withMigrationLock } from './migrate.js';
import { locksOf, type MigrationLock } from './migration-locks.rules.js';

interface PlannedMigration {
  readonly name: string;
  /** The locks on existing tables and views, each with the estimated rows of the table, and its bytes including indexes. */
  readonly locks: readonly (MigrationLock & { readonly rows: number; readonly bytes: number })[];
}

// reltuples is -1 for a table that was never analysed.
const SIZE = `
  SELECT coalesce(nullif(c.reltuples, -1), s.n_live_tup, 0)::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes
  FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.oid = to_regclass($1)`;

/** Returns the missing migrations with their locks, and throws what `migrate` throws before the first of them. Changes nothing. */
export const planMigrations = (databaseUrl: string): Promise<PlannedMigration[]> =>
  withMigrationLock(databaseUrl, async (pool) => {
    const { missing } = await findApplicable(pool, await readMigrations());
    const planned: PlannedMigration[] = [];
    for (const name of missing) {
      const script = await readFile(join(MIGRATIONS_FOLDER, name, 'migration.sql'), 'utf8');
      const locks: PlannedMigration['locks'][number][] = [];
      for (const lock of locksOf(script)) {
        const { rows } = await pool.query<{ rows: number; bytes: number }>(SIZE, [lock.relation]);
        if (rows[0] !== undefined) locks.push({ ...lock, ...rows[0] });
      }
      planned.push({ name, locks });
    }
    return planned;
  });
