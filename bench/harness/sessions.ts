import { hash } from 'node:crypto';

/** In which pass a session changes: one in fifty per pass, each in another, so that every pass brings as many changes. */
export const CHANGE_EVERY = 50;

type Kind = 'session' | 'user' | 'location' | 'inverter' | 'registered' | 'registered location';

/** Ids that sort in no order, as the remote service's do, and whose last group is a number that the fake remote can read. */
const uuidOf = (kind: Kind, index: number): string => {
  const digest = hash('md5', `${kind} ${index}`);
  const last = String(index).padStart(12, '0');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${last}`;
};

/** The same in SQL, where a million of them are made; `index` is an expression of type integer. */
export const uuidInSql = (kind: Kind, index: string): string =>
  `(SELECT (substr(d, 1, 8) || '-' || substr(d, 9, 4) || '-4' || substr(d, 14, 3) || '-8' || substr(d, 18, 3) || '-' ||
      lpad((${index})::text, 12, '0'))::uuid FROM md5('${kind} ' || ${index}) AS d)`;

export const sessionId = (index: number): string => uuidOf('session', index);
export const userId = (index: number): string => uuidOf('user', index);
export const gridLocationId = (index: number): string => uuidOf('location', index);
export const inverterId = (index: number): string => uuidOf('inverter', index);
export const registeredUserId = (index: number): string => uuidOf('registered', index);
export const registeredLocationId = (index: number): string => uuidOf('registered location', index);

/** How often a session has changed when it is read for the `reads`th time (from 1). */
export const changesAt = (index: number, reads: number): number =>
  Math.floor((reads + (index % CHANGE_EVERY)) / CHANGE_EVERY);

/** As the interface writes instants: an offset, no fraction. */
export const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
