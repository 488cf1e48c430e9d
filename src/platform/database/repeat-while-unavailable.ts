import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';

const PAUSE_MS = 250;

/**
 * Runs `write` until it succeeds. Rethrows its error once `withinMs` have passed, or if the database is not at fault. If the connection is
 * lost during COMMIT, the write may already be stored, so `write` must be idempotent.
 */
export async function repeatWhileUnavailable<T>(write: () => Promise<T>, withinMs: number): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() > until) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
