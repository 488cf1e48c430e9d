import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';

const PAUSE_MS = 250;

/**
 * Runs `write`, and retries it while the database is unavailable. Rethrows its error after `withinMs`, but not before the second attempt.
 * If the connection is lost or silent during COMMIT, the write may be committed, so `write` must recognise its own effect.
 */
export async function repeatWhileUnavailable<T>(write: () => Promise<T>, withinMs: number): Promise<T> {
  const until = performance.now() + withinMs;
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      const isOver = tries > 1 && performance.now() > until;
      if (!isDatabaseUnavailable(error) || isOver) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
