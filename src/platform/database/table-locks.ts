import type { Sql } from './database.js';

// Every user sees pg_locks. Of the processes of other users, pg_stat_activity shows no state and no time unless the user may read all
// statistics. The modes prevent writes by others; ordinary statements take none of them on a whole table. Autovacuum, which gives way by
// itself, has no user. A transaction of less than 5 s is probably a migration's. A transaction whose start is not visible counts.
const FIND_TABLE_LOCKS = `
  SELECT DISTINCT format('%s is locked by %s%s', c.relname, coalesce('process ' || l.pid, 'a prepared transaction'),
    coalesce(' (' || a.state || ', for ' || floor(extract(epoch FROM clock_timestamp() - a.xact_start)) || ' s)', '')) AS lock
  FROM pg_locks l
  JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.granted AND l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND (a.pid IS NULL OR a.usesysid IS NOT NULL) AND coalesce(a.xact_start < clock_timestamp() - interval '5 s', true)
  ORDER BY lock`;

/** Returns, for people, which process locks which of our tables against writing. Waits for no lock. */
export async function findTableLocks(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ lock: string }>(FIND_TABLE_LOCKS);
  return rows.map(({ lock }) => lock);
}
