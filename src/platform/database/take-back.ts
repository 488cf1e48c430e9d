import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql, Statement } from './database.js';

const FIRST_PAUSE_MS = 500;
const MOST_PAUSE_MS = 2_000;

/**
 * Undoes a row that this process has written and will not act upon, even across a database outage. Runs `statement` until it returns a row,
 * for at most `withinMs`: the time in which no other process may act on the row. It continues after a result without rows, because a server
 * that lost our connection may commit a little later.
 */
export async function takeBack(
  sql: Sql,
  statement: Statement,
  values: readonly unknown[],
  withinMs: number,
): Promise<void> {
  const until = performance.now() + withinMs;
  for (
    let pauseMs = FIRST_PAUSE_MS;
    performance.now() < until;
    pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS)
  ) {
    const taken = await sql.query(statement, values).catch(() => []);
    if (taken.length > 0) return;
    await sleep(pauseMs, undefined, { ref: false });
  }
}
