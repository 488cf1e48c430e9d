import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { withoutTimeouts } from '../connection/settings.js';
import { MigrationError } from './script.js';

/** The advisory lock of Prisma's command line. The first process migrates; the others wait and find nothing left to do. */
const LOCK = 72707369;
const TRY_LOCK = `SELECT pg_try_advisory_lock(${LOCK}) AS locked`;
/** PostgreSQL shows sessions of other roles without their name and address. */
const nameOf = (session: string): string => `
  format('process %s of PostgreSQL, connected since %s from %s, application_name %s',
    ${session}.pid, coalesce(${session}.backend_start::text, 'an unknown time'),
    coalesce(host(${session}.client_addr), 'an unknown address'), coalesce(${session}.application_name, 'unknown'))`;
/** Selects the session that has the lock, and the sessions whose locks it waits for. */
const FIND_OWNER = `
  SELECT ${nameOf('owner')} AS owner, (SELECT string_agg(${nameOf('blocker')}, ' and of ')
      FROM pg_stat_activity blocker WHERE blocker.pid = ANY (pg_blocking_pids(owner.pid))) AS blockers
  FROM pg_locks JOIN pg_stat_activity owner USING (pid)
  WHERE locktype = 'advisory' AND granted AND (classid, objid, objsubid) = (0, ${LOCK}, 1)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const LOCK_POLL_MS = 200;
const OLDEST_SERVER = 150_000;
const logger = new Logger('Migrations');

/** When a process logs what it waits for. A replica without missing migrations releases the lock within moments. */
const WAIT_LINES = { firstAfterMs: 2_000, everyMs: 30_000 };

/**
 * Locks the migrations and runs `work` on the session that has the lock. Throws if the server is unfit. If the process is killed,
 * PostgreSQL releases the lock at the end of the current statement, because the session that has the lock also runs the migrations.
 */
export async function withMigrationLock<T>(
  databaseUrl: string,
  work: (client: pg.ClientBase) => Promise<T>,
  waitLines = WAIT_LINES,
): Promise<T> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    // One of them runs the migrations, the other finds what they wait for.
    max: 2,
    application_name: 'pv-onboarding migrate',
    ...withoutTimeouts,
  });
  // Without these handlers, a lost connection would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}).on('notice', warn));
  const client = await pool.connect();
  const done = new AbortController();
  try {
    await refuseUnfitServer(client);
    await lockMigrations(client, waitLines);
    logBlockers(pool, waitLines, done.signal).catch(() => {});
    return await work(client);
  } finally {
    done.abort();
    // Closes the session, which releases the lock.
    client.release(true);
    await pool.end();
  }
}

/**
 * Locks the migrations for the session: a lock of a transaction would end with the first migration, which commits. Polls instead of waiting
 * in one statement: Prisma's command line takes the same lock and may run CREATE INDEX CONCURRENTLY, which waits for every running
 * statement of other sessions. A replica that waited in a statement would therefore block the process that has the lock.
 */
async function lockMigrations(client: pg.ClientBase, { firstAfterMs, everyMs }: typeof WAIT_LINES) {
  let nextLineAt = performance.now() + firstAfterMs;
  while (!(await client.query<{ locked: boolean }>(TRY_LOCK)).rows[0]!.locked) {
    if (performance.now() >= nextLineAt) {
      nextLineAt = performance.now() + everyMs;
      const row = await findOwner(client);
      const wait = row?.blockers ? `, which waits for a lock of ${row.blockers}` : '';
      if (row !== undefined) logger.warn(`waits for the migrations of another process: ${row.owner}${wait}`);
    }
    await sleep(LOCK_POLL_MS);
  }
}

/** Logs whose locks the migrations of this process wait for, which they do with pauses. Rejects once it is aborted. */
async function logBlockers(pool: pg.Pool, { firstAfterMs, everyMs }: typeof WAIT_LINES, signal: AbortSignal) {
  for (let waitMs = firstAfterMs; ;) {
    await sleep(waitMs, undefined, { signal });
    const row = await findOwner(pool);
    if (row?.blockers) logger.warn(`the migrations wait for a lock of ${row.blockers}`);
    waitMs = row?.blockers ? everyMs : LOCK_POLL_MS;
  }
}

const findOwner = async (via: pg.Pool | pg.ClientBase) =>
  (await via.query<{ owner: string; blockers: string | null }>(FIND_OWNER)).rows[0];

/** Logs the warnings of the server. A migration raises one if an administrator has to act. */
function warn({ severity, message, hint }: { severity?: string; message?: string; hint?: string }): void {
  if (severity === 'WARNING') logger.warn([message, hint].filter(Boolean).join('. '));
}

/** Throws if the server is too old, or if its database cannot store every character. */
async function refuseUnfitServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ number: string; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name,
            current_setting('server_encoding') AS encoding`,
  );
  const { number, name, encoding } = rows[0]!;
  if (Number(number) < OLDEST_SERVER)
    throw new MigrationError(`DATABASE_URL is a PostgreSQL ${name}; 15 or newer is needed`);
  if (encoding !== 'UTF8')
    throw new MigrationError(
      `DATABASE_URL leads to a database with the encoding ${encoding}; create one with ENCODING 'UTF8'`,
    );
}
