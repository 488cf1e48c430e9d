import { isDatabaseUnavailable } from '../problem/database-unavailable.js';
import type { Database, Statement } from './database.js';
import { sqlState } from './sql-state.js';
import { OUTCOME, OUTCOME_PATIENCE_MS } from './connection/patience.js';

const PAUSE_MS = 500;

/** Matches the messages of errors for which no connection was made. */
const NOT_CONNECTED =
  /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout|(connect|getaddrinfo) )/;

/** Returns whether the server may still execute a failed statement: the connection was lost (08) or terminated (57P) before the response. */
const mayBeExecutedLater = (error: unknown): boolean => /^(08|57P|$)/.test(sqlState(error) ?? '');

/** Returns whether a statement may have been sent. */
const maybeSent = (error: unknown): boolean => !(error instanceof Error && NOT_CONNECTED.test(error.message));

/**
 * Undoes a write that failed with `error` but may be committed nevertheless, in the background. One undo is enough after an error of the
 * server. If the connection was lost, the server may commit the write later, so the undo is repeated until it returns a row, or for
 * `withinMs`.
 */
export function undo(
  database: Pick<Database, 'query' | 'outcomes'>,
  statement: string | Statement,
  values: readonly unknown[],
  error: unknown,
  withinMs: number,
): void {
  if (!maybeSent(error)) return;
  repeatUntilEffective(database, statement, values, mayBeExecutedLater(error) ? withinMs : 0);
}

/**
 * Repeats `statement`, which undoes a write, in the background until it returns a row or `withinMs` have passed. While it fails, repeats it
 * for longer: for OUTCOME_PATIENCE_MS, or until the database is available. A process that stops executes it once more.
 */
export function repeatUntilEffective(
  database: Pick<Database, 'query' | 'outcomes'>,
  statement: string | Statement,
  values: readonly unknown[],
  withinMs: number,
): void {
  const until = performance.now() + withinMs;
  const giveUpAt = performance.now() + Math.max(withinMs, OUTCOME_PATIENCE_MS);
  const isOver = (): Promise<boolean> =>
    database.query(statement, values, OUTCOME).then(
      (rows) => rows.length > 0 || performance.now() > until,
      (error: unknown) => !isDatabaseUnavailable(error) && performance.now() > giveUpAt,
    );
  void database.outcomes.repeatUntil(isOver, PAUSE_MS);
}
