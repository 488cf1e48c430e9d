import type pg from 'pg';
import { limited } from './patience.js';

type Settings = Readonly<Record<string, string | number>>;

/** Settings that statements rely on and that PgBouncer tracks for each client. With another DateStyle, pg reads instants as null. */
const KEPT_BY_POOLERS: Settings = {
  DateStyle: 'ISO, MDY',
  // Prisma's adapter ignores the offset of instants.
  TimeZone: 'UTC',
};
/** Settings that statements rely on and that a transaction pooler does not track. */
const LOST_BY_POOLERS: Settings = {
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  search_path: 'public',
  default_transaction_isolation: 'read committed',
};

/** The timeout of a statement. Only a statement that waits for a lock or has lost its connection takes as long. */
export const STATEMENT_TIMEOUT_MS = 15_000;

/** How long the client waits for a response. A server that cannot be reached cannot enforce its own timeout. */
export const RESPONSE_WITHIN_MS = STATEMENT_TIMEOUT_MS + 1_000;

/** How long to wait for a connection, and after that for its settings. */
export const CONNECT_WITHIN_MS = 5_000;

export const TIMEOUTS: Settings = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: 5_000,
  // A transaction never spans a network call, so an idle transaction is a bug or belongs to a dead process.
  idle_in_transaction_session_timeout: 10_000,
};

const NO_TIMEOUTS: Settings = Object.fromEntries(Object.keys(TIMEOUTS).map((name) => [name, 0]));

const set = (client: pg.ClientBase, text: string) => client.query(limited({ text }, CONNECT_WITHIN_MS));

const assign = (command: 'SET' | 'SET LOCAL', settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${command} ${name} TO '${value}'`)
    .join('; ');

/**
 * Returns SQL that lets commits wait until a crash of PostgreSQL cannot undo them, if an administrator has turned that off. Otherwise a
 * registration would be forgotten that was committed before its remote call, and the next request would register the customer twice.
 */
const keepCommits = (isLocal: boolean): string =>
  `; SELECT set_config('synchronous_commit', 'on', ${isLocal}) WHERE current_setting('synchronous_commit') = 'off'`;

/** Pool options for connections that clients do not share. Sends SET, as poolers refuse startup parameters. pg-pool awaits `onConnect`. */
export const withSettings = (settings: Settings) => ({
  onConnect: (client: pg.ClientBase) =>
    set(client, assign('SET', { ...settings, ...KEPT_BY_POOLERS, ...LOST_BY_POOLERS }) + keepCommits(false)),
});

/** Pool options for connections through a transaction pooler. Other settings would affect other clients of the pooler. */
export const withPooledSettings = {
  onConnect: (client: pg.ClientBase) => set(client, assign('SET', KEPT_BY_POOLERS)),
};

/** Pool options for migrations, which may take long. Also disables the role's own timeouts, which would end the session and its lock. */
export const withoutTimeouts = {
  onConnect: async (client: pg.ClientBase) => {
    await withSettings(NO_TIMEOUTS).onConnect(client);
    // SET would fail before PostgreSQL 17, in which transaction_timeout first exists.
    await client.query(
      `SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('idle_session_timeout', 'transaction_timeout')`,
    );
  },
};

/** Begins a transaction with our settings, in one round trip, on a pooled connection that may have other settings. */
export const BEGIN_POOLED = `BEGIN ISOLATION LEVEL READ COMMITTED; ${assign('SET LOCAL', { ...LOST_BY_POOLERS, ...TIMEOUTS })}${keepCommits(true)}`;
