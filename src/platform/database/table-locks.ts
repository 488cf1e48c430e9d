import type { Sql, Statement } from './database.js';

// Every user sees pg_locks. Of the processes of other users, pg_stat_activity shows no state and no time unless the user may read all
// statistics. The modes are those that keep others from writing; an ordinary statement takes none of them.
const FIND_TABLE_LOCKS: Statement = {
  name: 'database.find_table_locks',
  text: `
    SELECT DISTINCT format('%s is locked by process %s%s', c.relname, l.pid,
      coalesce(' (' || a.state || ', for ' || floor(extract(epoch FROM clock_timestamp() - a.xact_start)) || ' s)', '')) AS lock
    FROM pg_locks l
    JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN ('public', 'graphile_worker')
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      AND a.backend_type IS DISTINCT FROM 'autovacuum worker'
    ORDER BY lock`,
};

/** Returns in words who locks which of our tables against writing. Waits for no lock. */
export async function findTableLocks(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ lock: string }>(FIND_TABLE_LOCKS);
  return rows.map(({ lock }) => lock);
}
