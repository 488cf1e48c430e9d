import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql } from '../platform/database/database.js';
import { Problem } from '../platform/problem/problem.js';
import type { Principal } from './scopes.js';

export type Caller = Pick<Principal, 'id' | 'consoleUntil'>;

const acting = new AsyncLocalStorage<Caller>();

/** Runs `work`, and everything that it starts, for the caller of a request. */
export const actAs = (caller: Caller, work: () => void): void => acting.run(caller, work);

/** An update that revokes the key waits for this lock; a second request with the key does not. */
const LOCK_KEY = 'SELECT FROM api_keys WHERE id = $1 AND revoked_at IS NULL FOR SHARE';

/**
 * Throws Problem unauthenticated if the caller of the current request may no longer act. From then on, the key cannot be revoked before the
 * transaction ends. Does nothing outside a request, for example in a worker.
 */
export async function requireActing(tx: Sql): Promise<void> {
  const caller = acting.getStore();
  if (caller === undefined) return;
  requireSession(caller);
  if (caller.id === null) return;
  const keys = await tx.query(LOCK_KEY, [caller.id]);
  if (keys.length === 0) throw keyRevoked();
}

/** Throws Problem unauthenticated if the caller's session of the console is over. */
export function requireSession({ consoleUntil = Infinity }: Caller): void {
  if (consoleUntil <= Date.now()) throw sessionOver();
}

export const sessionOver = (): Problem =>
  new Problem('unauthenticated', 'The session of the console is over');

export const keyRevoked = (): Problem => new Problem('unauthenticated', 'The API key has been revoked');
