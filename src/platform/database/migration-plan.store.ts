import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findApplicable, MIGRATIONS_FOLDER, readMigrations, withMigrationLock } from './migrate.js';
import { locksOf } from './migration-locks.rules.js';

// reltuples is -1 for a table that was never analysed.
const SIZE = `
  SELECT coalesce(nullif(c.reltuples, -1), s.n_live_tup, 0)::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes
  FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.oid = to_regclass($1)`;

/**
 * Returns the missing migrations with their locks on existing tables and views, each with the estimated rows of the table, and its bytes
 * including indexes. Throws the errors that `migrate` throws before it applies one. Changes nothing.
 */
export const planMigrations = (databaseUrl: string) =>
  withMigrationLock(databaseUrl, async (pool) => {
    const planned = [];
    for (const name of await findApplicable(pool, await readMigrations())) {
      const script = await readFile(join(MIGRATIONS_FOLDER, name, 'migration.sql'), 'utf8');
      const locks = [];
      for (const lock of locksOf(script)) {
        const { rows } = await pool.query<{ rows: number; bytes: number }>(SIZE, [lock.relation]);
        locks.push(...rows.map((size) => ({ ...lock, ...size })));
      }
      planned.push({ name, locks });
    }
    return planned;
  });
