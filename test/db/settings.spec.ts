import { describe, expect, it } from '@jest/globals';
import { Listener } from '../../src/platform/database/connection/listen.js';
import { withMigrationLock } from '../../src/platform/database/migrations/lock.js';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { closeAfterEach } from '../setup/close-after-each.js';
import { TestClient } from '../setup/client.js';
import { startTestApp } from '../setup/test-app.js';
import { createTestDatabase, withDatabase, type TestDatabase } from '../setup/database/test-database.js';
import { environmentFor } from '../setup/test-environment.js';
import { waitFor } from '../setup/wait-for.js';
import { withClient } from '../setup/database/with-client.js';

/** An administrator may choose each of these settings. Each breaks a client that does not set its own. */
const UNUSUAL = {
  DateStyle: `'SQL, DMY'`,
  TimeZone: `'Asia/Kathmandu'`,
  IntervalStyle: `'sql_standard'`,
  bytea_output: `'escape'`,
  search_path: `'admin'`,
  default_transaction_isolation: `'serializable'`,
  statement_timeout: `'3s'`,
  lock_timeout: `'3s'`,
  synchronous_commit: 'off',
  idle_in_transaction_session_timeout: `'3s'`,
};
const READ_SETTINGS = `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
  current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('synchronous_commit') AS commits`;

describe('a database with unusual settings', () => {
  const closing = closeAfterEach();

  async function createUnusual(content: 'migrated' | 'empty'): Promise<TestDatabase> {
    const database = await createTestDatabase(content);
    const name = new URL(database.url).pathname.slice(1);
    // Resets the settings before the drop, because the drop reads the events of the database through a connection with the usual settings.
    closing.push(database.drop, () =>
      withClient(process.env.PV_TEST_SERVER_URL ?? '', (client) =>
        client.query(`ALTER DATABASE ${name} RESET ALL`),
      ),
    );
    await withClient(database.url, async (client) => {
      for (const [setting, value] of Object.entries(UNUSUAL))
        await client.query(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
    });
    return database;
  }

  it('is migrated', async () => {
    const database = await createUnusual('empty');
    expect(await migrate(database.url)).not.toEqual([]);
    expect(await migrate(database.url)).toEqual([]);
    const { rows } = await withMigrationLock(database.url, (client) => client.query(READ_SETTINGS));
    expect(rows).toEqual([{ statement: '0', lock: '0', idle: '0', commits: 'on' }]);
  });

  it('serves the whole onboarding, with the same times', async () => {
    const database = await createUnusual('migrated');
    const service = await startTestApp({ DATABASE_URL: database.url });
    closing.push(service.close);
    const client = TestClient.of(service);
    const { id, createdAt } = await client.startNew();
    const remote = await service.sandbox!.control.complete(id, { onlineAfterMs: 0 });
    const online = await waitFor('the session is online', async () => {
      const session = await client.session(id);
      return session.state === 'online' && session;
    });
    expect([createdAt, online.createdAt]).toEqual([remote.createdAt, remote.createdAt]);
    expect(await client.eventsOf(id)).toContain('session.online');
    expect(await service.database.query(READ_SETTINGS)).toEqual([
      { statement: '15s', lock: '5s', idle: '10s', commits: 'on' },
    ]);
  });

  it('R58: notices a copy, also one whose dump is still being restored at first', async () => {
    const { url } = await createUnusual('migrated');
    const listener = new Listener(environmentFor(url));
    closing.push(() => listener.onApplicationShutdown());
    let copies = 0;
    listener.watchHome(() => copies++);
    listener.on('any', () => {});
    await waitFor('it listens', () => listener.isListening);
    await withDatabase(url, (database) =>
      database.query(`INSERT INTO deployment (home) VALUES ('elsewhere')`),
    );
    await waitFor('it notices the copy', () => copies > 0, 15_000);
  });

  it('has one connection beside its pools that listens, whatever the number of channels', async () => {
    const database = await createUnusual('migrated');
    const service = await startTestApp({ DATABASE_URL: database.url });
    closing.push(service.close);
    const listening = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '% listen'`;
    const count = async () => (await service.database.query(listening)).length;
    await waitFor('the connection', async () => (await count()) > 0);
    await TestClient.of(service).startNew();
    expect(await count()).toBe(1);
  });

  it('is refused before the first migration if it cannot store every character', async () => {
    const server = process.env.PV_TEST_SERVER_URL ?? '';
    const name = `pv_test_latin1_${process.pid}`;
    await withClient(server, (client) =>
      client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`),
    );
    closing.push(() => withClient(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`)));
    const url = new URL(server);
    url.pathname = `/${name}`;
    await expect(migrate(url.href)).rejects.toThrow(`encoding LATIN1; create one with ENCODING 'UTF8'`);
    const tables = await withClient(url.href, (client) =>
      client.query(`SELECT FROM pg_class WHERE relname = '_prisma_migrations'`),
    );
    expect(tables.rowCount).toBe(0);
  });
});
