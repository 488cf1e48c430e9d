import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql, Statement } from './database.js';

const FIRST_PAUSE_MS = 500;
const MOST_PAUSE_MS = 2_000;

/**
 * Takes back what a process has written and will not act upon, also when the database is away meanwhile. Runs `statement` until it
 * has answered a row, for `withinMs` at most: as long as nobody else may come to another conclusion. It goes on after an answer
 * without rows, because a server that has lost us may commit a little later.
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
