import { locksOf } from './locks.rules.js';
import { withMigrationLock } from './lock.js';
import { findApplicable } from './records.js';
import { readMigration, readMigrations } from './script.js';

// reltuples is -1 for a table that was never analysed.
const SIZE = `
  SELECT coalesce(nullif(c.reltuples, -1), s.n_live_tup, 0)::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes
  FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.oid = to_regclass($1)`;

/**
 * Returns the missing migrations with their locks on existing tables and views, each with the estimated rows of the table, and its bytes
 * including indexes. Throws the errors that `migrate` throws before it applies one. Changes nothing.
 */
export const planMigrations = (databaseUrl: string) =>
  withMigrationLock(databaseUrl, async ({ client }) => {
    const planned = [];
    for (const name of await findApplicable(client, await readMigrations())) {
      const { script } = await readMigration(name);
      const locks = [];
      for (const lock of locksOf(script)) {
        const { rows } = await client.query<{ rows: number; bytes: number }>(SIZE, [lock.relation]);
        locks.push(...rows.map((size) => ({ ...lock, ...size })));
      }
      planned.push({ name, locks });
    }
    return planned;
  });
