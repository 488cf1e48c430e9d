import { hash } from 'node:crypto';

/** In each pass over all sessions, one of this many sessions changes. Consecutive passes change different sessions. */
const CHANGE_EVERY = 50;

type Kind = 'session' | 'user' | 'location' | 'inverter';

/** Returns an id that sorts randomly, like a real id. The last group is the index, by which the fake remote service finds the session. */
const uuidOf = (kind: Kind, index: number): string => {
  const digest = hash('md5', `${kind} ${index}`);
  const last = String(index).padStart(12, '0');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${last}`;
};

/** Returns SQL for the id that `uuidOf` returns. `index` is an integer expression in SQL. */
export const uuidInSql = (kind: Kind, index: string): string =>
  `(SELECT (substr(d, 1, 8) || '-' || substr(d, 9, 4) || '-4' || substr(d, 14, 3) || '-8' || substr(d, 18, 3) || '-' ||
      lpad((${index})::text, 12, '0'))::uuid FROM md5('${kind} ' || ${index}) AS d)`;

export const sessionId = (index: number): string => uuidOf('session', index);
export const userId = (index: number): string => uuidOf('user', index);
export const gridLocationId = (index: number): string => uuidOf('location', index);
export const inverterId = (index: number): string => uuidOf('inverter', index);

/** Returns how many times a session has changed within its first `reads` reads. */
export const changesAt = (index: number, reads: number): number =>
  Math.floor((reads + (index % CHANGE_EVERY)) / CHANGE_EVERY);

/** Formats an instant as the remote interface does: with an offset and no fraction. */
export const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
