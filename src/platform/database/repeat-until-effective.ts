import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';
import { sqlState, type Database, type Statement } from './database.js';
import { OUTCOME } from './connection/patience.js';

const PAUSE_MS = 500;

/** Returns whether no repetition is needed. */
type Undo = () => Promise<boolean>;

/** The messages of a connection that was never made. */
const NOT_CONNECTED =
  /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout|(connect|getaddrinfo) )/;

/** Returns whether a failed statement may have been committed: the connection was lost (08) or terminated (57P) before the response. */
export const mayBeCommitted = (error: unknown): boolean =>
  isDatabaseUnavailable(error) &&
  /^(08|57P|$)/.test(sqlState(error) ?? '') &&
  !(error instanceof Error && NOT_CONNECTED.test(error.message));

/** One loop per database. With one loop per failed write, all loops would compete for connections at the end of an outage. */
const undosOf = new WeakMap<Pick<Database, 'query'>, Set<Undo>>();

/**
 * Repeats `statement`, which undoes a write, until it returns a row or `withinMs` have passed. Once is not enough: if the connection of the
 * write was lost, the server may commit the write late.
 */
export function repeatUntilEffective(
  database: Pick<Database, 'query'>,
  statement: string | Statement,
  values: readonly unknown[],
  withinMs: number,
): void {
  const until = performance.now() + withinMs;
  const undo = async () =>
    (await database.query(statement, values, OUTCOME)).length > 0 || performance.now() > until;
  const undos = undosOf.get(database) ?? new Set();
  undosOf.set(database, undos.add(undo));
  if (undos.size === 1) void repeatAll(undos);
}

async function repeatAll(undos: Set<Undo>): Promise<void> {
  for (;;) {
    for (const undo of undos) {
      try {
        if (await undo()) undos.delete(undo);
      } catch (error) {
        // Retries an undo until the database has responded to it, even if with a refusal.
        if (isDatabaseUnavailable(error)) break;
        undos.delete(undo);
      }
    }
    if (undos.size === 0) return;
    await sleep(PAUSE_MS, undefined, { ref: false });
  }
}
