import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';
import { sqlState, type Database, type Statement } from './database.js';
import { OUTCOME } from './connection/patience.js';

const PAUSE_MS = 500;

/** Matches the messages of errors for which no connection was made. */
const NOT_CONNECTED =
  /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout|(connect|getaddrinfo) )/;

/** Returns whether a failed statement may have been committed: the connection was lost (08) or terminated (57P) before the response. */
export const mayBeCommitted = (error: unknown): boolean =>
  isDatabaseUnavailable(error) &&
  /^(08|57P|$)/.test(sqlState(error) ?? '') &&
  !(error instanceof Error && NOT_CONNECTED.test(error.message));

/**
 * Repeats `statement`, which undoes a write, until it returns a row or `withinMs` have passed. One execution is not enough: the server may
 * commit the write after its connection was lost. While the database is unavailable, repeats for longer than `withinMs`.
 */
export function repeatUntilEffective(
  database: Pick<Database, 'query'>,
  statement: string | Statement,
  values: readonly unknown[],
  withinMs: number,
): void {
  const until = performance.now() + withinMs;
  const repeat = async (): Promise<void> => {
    for (;;) {
      const isOver = await database.query(statement, values, OUTCOME).then(
        (rows) => rows.length > 0 || performance.now() > until,
        (error: unknown) => !isDatabaseUnavailable(error),
      );
      if (isOver) return;
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
  };
  void repeat();
}
