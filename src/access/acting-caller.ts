import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql } from '../platform/database/database.js';
import { Problem } from '../platform/problem/problem.js';
import type { Principal } from './scopes.js';

export type Caller = Pick<Principal, 'id' | 'consoleUntil'>;

const acting = new AsyncLocalStorage<Caller>();

/** Runs `work`, and everything that it starts, for the caller of a request. */
export const actAs = (caller: Caller, work: () => void): void => acting.run(caller, work);

/** Returns who has sent the current request; undefined if nobody calls, for example in a worker. */
export const actingCaller = (): Caller | undefined => acting.getStore();

/** The advisory lock of API key `id` (SQL). It is granted in turn, while share locks of a row overtake an update that waits for it. */
export const keyLock = (id: string): string => `hashtextextended('pv-onboarding/api-keys/' || ${id}, 0)`;

/** Locks a live key. A revocation waits for the transactions that have this lock, and a second request with the key does not. */
const lockKey = (condition: string): string =>
  `SELECT FROM api_keys WHERE ${condition} AND revoked_at IS NULL AND pg_advisory_xact_lock_shared(${keyLock('id')}) IS NOT NULL
    LIMIT 1 FOR SHARE`;
const lockOne = (key: string): string => lockKey(`id = ${key}::uuid`);

/**
 * Throws Problem unauthenticated if the caller of the current request may no longer act. From then on, the key cannot be revoked before the
 * transaction ends. Does nothing outside a request, for example in a worker.
 */
export async function requireActing(tx: Sql): Promise<void> {
  const key = actingKey();
  if (key === null) return;
  const keys = await tx.query(lockOne('$1'), [key]);
  if (keys.length === 0) throw keyRevoked();
}

/** Like requireActing, but for work that several callers share: one of them must be allowed to act. */
export async function requireOneActing(tx: Sql, callers: readonly (Caller | undefined)[]): Promise<void> {
  const present = callers.filter((caller) => (caller?.consoleUntil ?? Infinity) > Date.now());
  if (present.length === 0) throw sessionOver();
  const keys = present.map((caller) => caller?.id ?? null);
  if (keys.includes(null)) return;
  if ((await tx.query(lockKey('id = ANY ($1::uuid[])'), [keys])).length === 0) throw keyRevoked();
}

/**
 * Returns the id of the caller's key, or null if there is no caller or the caller has no key. Throws Problem unauthenticated if the caller's session
 * of the console is over.
 */
export function actingKey(): string | null {
  const caller = acting.getStore();
  if (caller === undefined) return null;
  requireSession(caller);
  return caller.id;
}

/**
 * Returns a condition that does the same as requireActing within a statement that creates something, to save the round trip. `key`: the
 * parameter with the result of `actingKey`. If the statement returns no row, requireActing tells whether this condition was the reason.
 */
export const mayAct = (key: string): string => `(${key}::uuid IS NULL OR EXISTS (${lockOne(key)}))`;

/** Throws Problem unauthenticated if the caller's session of the console is over. */
export function requireSession({ consoleUntil = Infinity }: Caller): void {
  if (consoleUntil <= Date.now()) throw sessionOver();
}

export const sessionOver = (): Problem =>
  new Problem('unauthenticated', 'The session of the console is over');

export const keyRevoked = (): Problem => new Problem('unauthenticated', 'The API key has been revoked');
