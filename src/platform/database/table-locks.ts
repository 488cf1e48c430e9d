import { toProblem } from '../problem/problem-response.js';
import { Problem } from '../problem/problem.js';
import type { Database } from './database.js';

// Finds locks in modes that block writes; ordinary statements lock no whole table in these modes. Skips autovacuum, which has no user and
// yields by itself, and transactions of less than 5 s, which are probably migrations. Includes transactions whose start is not visible:
// pg_stat_activity shows the state and the times of other users' processes only to users who may read all statistics.
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

/**
 * Returns a description, for people, of each lock that blocks writes to one of our tables. Does not wait for these locks, nor while all
 * connections are in use by statements that do.
 */
export async function findTableLocks(database: Pick<Database, 'queryAside'>): Promise<string[]> {
  const rows = await database.queryAside<{ lock: string }>(FIND_TABLE_LOCKS);
  return rows.map(({ lock }) => lock);
}

/** Throws `error`; if it shows that the database is unavailable while tables are locked, throws a Problem that names the locks. */
export async function nameLocks(database: Pick<Database, 'queryAside'>, error: unknown): Promise<never> {
  const problem = toProblem(error);
  if (problem?.code !== 'database_unavailable') throw error;
  const locks = await findTableLocks(database);
  if (locks.length === 0) throw error;
  throw new Problem('database_unavailable', `Tables are locked: ${locks.join('; ')}`, problem.extra);
}
