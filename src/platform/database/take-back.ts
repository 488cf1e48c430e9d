import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql, Statement } from './database.js';

const PAUSE_MS = 500;

/**
 * Takes back what a process has written and will not act upon, also when the database is away meanwhile. Runs `statement` until it
 * has answered a row, for `withinMs` at most: as long as nobody else may come to a conclusion of his own. It goes on after an answer
 * without rows, because a server that has lost us may commit a little later.
 */
export async function takeBack(
  sql: Sql,
  statement: Statement,
  values: readonly unknown[],
  withinMs: number,
): Promise<void> {
  for (const until = performance.now() + withinMs; performance.now() < until;) {
    const taken = await sql.query(statement, values).catch(() => []);
    if (taken.length > 0) return;
    await sleep(PAUSE_MS, undefined, { ref: false });
  }
}
