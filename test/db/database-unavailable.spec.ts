import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../src/platform/database/database.js';
import type { Environment } from '../../src/platform/env/environment.js';
import { isDatabaseUnavailable } from '../../src/platform/problem/database-unavailable.js';
import { createTestDatabase, type TestDatabase } from '../setup/database/test-database.js';
import { listen } from '../setup/receivers/servers.js';
import { waitFor } from '../setup/wait-for.js';

const POOL_SIZE = 2;
const SLEEP = 'SELECT pg_sleep(20)::text';
const QUICK = 'SELECT 1';
const LONG = { maxWait: 30_000, timeout: 30_000 };

// pg and Prisma do not document the errors of an unavailable database, so these tests provoke them.
describe('isDatabaseUnavailable', () => {
  let copy: TestDatabase;
  let admin: pg.Client;
  const opened: Database[] = [];

  beforeAll(async () => {
    copy = await createTestDatabase();
    admin = await copy.connect();
  });

  afterAll(async () => {
    await Promise.all(opened.map((database) => database.onApplicationShutdown()));
    await copy.drop();
  });

  function open(change: (url: URL) => void = () => {}): Database {
    const url = new URL(copy.url);
    change(url);
    const database = new Database({
      DATABASE_URL: url.href,
      DATABASE_POOL_SIZE: POOL_SIZE,
      ROLE: 'api',
    } as Environment);
    opened.push(database);
    return database;
  }

  const ways = (
    database: Database,
    statement: string,
    limits: Partial<typeof LONG> = LONG,
  ): Record<string, () => Promise<unknown>> => ({
    'a query': () => database.query(statement),
    'a transaction': () => database.transaction((tx) => tx.query(statement)),
    'a raw query of Prisma': () => database.prisma.$queryRawUnsafe(statement),
    'a transaction of Prisma': () =>
      database.prisma.$transaction((tx) => tx.$queryRawUnsafe(statement), limits),
  });

  /** Runs `meanwhile` during each attempt. Returns the attempts whose error isDatabaseUnavailable does not recognise. */
  async function unrecognised(
    attempts: Record<string, () => Promise<unknown>>,
    meanwhile?: () => Promise<void>,
  ): Promise<string[]> {
    const missed: string[] = [];
    for (const [way, attempt] of Object.entries(attempts)) {
      const error = attempt().then(
        () => new Error('it succeeded'),
        (thrown: unknown) => thrown,
      );
      await meanwhile?.();
      if (!isDatabaseUnavailable(await error)) missed.push(`${way}: ${String(await error)}`);
    }
    return missed;
  }

  const terminateSleepers = () =>
    waitFor('a sleeper to be ended', async () => {
      const { rowCount } = await admin.query(
        // Waits until the backend is gone, so that the next call does not find it.
        `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()`,
      );
      return rowCount === 1;
    }).then(() => {});

  it('recognises a connection that is ended during a statement', async () => {
    expect(await unrecognised(ways(open(), SLEEP), terminateSleepers)).toEqual([]);
  });

  it('recognises an unreachable server', async () => {
    const nowhere = open((url) => (url.port = '1'));
    const find = { 'a read of rows': () => nowhere.prisma.user.findMany() };
    expect(await unrecognised({ ...ways(nowhere, QUICK), ...find })).toEqual([]);
  });

  it.each<[what: string, change: (url: URL) => void]>([
    ['a socket that is gone', (url) => url.searchParams.set('host', '/tmp/no-such-folder')],
    ['a server without TLS', (url) => url.searchParams.set('sslmode', 'verify-full')],
  ])('recognises %s', async (_, change) => {
    expect(await unrecognised(ways(open(change), QUICK))).toEqual([]);
  });

  it('recognises a server or pooler that ends the connection, whatever its SQLSTATE', async () => {
    const fields = Buffer.from('SFATAL\0CXX000\0Mno such tenant\0\0');
    const refusal = Buffer.concat([Buffer.from('E\0\0\0'), Buffer.from([fields.length + 4]), fields]);
    const server = createServer((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end(refusal)),
    );
    const port = await listen(server);
    expect(
      await unrecognised(
        ways(
          open((url) => (url.port = `${port}`)),
          QUICK,
        ),
      ),
    ).toEqual([]);
    server.close();
  });

  it.each(['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])(
    'recognises a certificate at fault: %s',
    (code) => expect(isDatabaseUnavailable(Object.assign(new Error('refused'), { code }))).toBe(true),
  );

  it('recognises a statement that reached its time limit', async () => {
    const database = open();
    const slow = `SELECT set_config('statement_timeout', '50', true)`;
    const missed = await unrecognised({
      'a transaction': () => database.transaction((tx) => tx.query(slow).then(() => tx.query(SLEEP))),
      'a transaction of Prisma': () =>
        database.prisma.$transaction(
          (tx) => tx.$queryRawUnsafe(slow).then(() => tx.$queryRawUnsafe(SLEEP)),
          LONG,
        ),
    });
    expect(missed).toEqual([]);
  });

  it('recognises a full pool', async () => {
    const database = open();
    const held = await Promise.all(Array.from({ length: POOL_SIZE }, () => database.pool.connect()));
    // Prisma's own limits, so that its transaction fails before the wait for a connection does.
    const attempts = Object.values(ways(database, QUICK, {})).map((attempt) =>
      attempt().catch((error: unknown) => error),
    );
    const errors = await Promise.all(attempts);
    for (const client of held) client.release();
    expect(errors.map(isDatabaseUnavailable)).toEqual([true, true, true, true]);
  });

  it('does not mistake a faulty statement for it', async () => {
    for (const statement of [
      'SELECT no_such_column',
      'SELECT 1/0',
      'no SQL',
      "INSERT INTO users (id) VALUES ('x')",
    ]) {
      const errors = await Promise.all(
        Object.values(ways(open(), statement)).map((attempt) => attempt().catch((error: unknown) => error)),
      );
      expect(errors.map(isDatabaseUnavailable)).toEqual([false, false, false, false]);
    }
  });
});
