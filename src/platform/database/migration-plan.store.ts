import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from './database.js';
import { findMissingMigrations, MIGRATIONS_FOLDER, readMigrations } from './migrate.js';
import { locksOf, type MigrationLock } from './migration-locks.rules.js';

export interface PlannedMigration {
  readonly name: string;
  /** The locks on existing tables and views, each with the estimated rows of the table, and its bytes including indexes. */
  readonly locks: readonly (MigrationLock & { readonly rows: number; readonly bytes: number })[];
}

// reltuples is -1 for a table that was never analysed.
const SIZE = `
  SELECT coalesce(nullif(c.reltuples, -1), s.n_live_tup, 0)::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes
  FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.oid = to_regclass($1)`;

/** Returns the missing migrations with their locks. Changes nothing. */
export async function planMigrations(sql: Sql): Promise<PlannedMigration[]> {
  const missing = (await findMissingMigrations(sql)) ?? (await readMigrations());
  const planned: PlannedMigration[] = [];
  for (const name of missing) {
    const script = await readFile(join(MIGRATIONS_FOLDER, name, 'migration.sql'), 'utf8');
    const locks: PlannedMigration['locks'][number][] = [];
    for (const lock of locksOf(script)) {
      const [size] = await sql.query<{ rows: number; bytes: number }>(SIZE, [lock.relation]);
      if (size !== undefined) locks.push({ ...lock, ...size });
    }
    planned.push({ name, locks });
  }
  return planned;
}
