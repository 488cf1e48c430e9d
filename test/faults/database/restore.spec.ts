import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventsStore } from '../../../src/feed/events.store.js';
import { restoreCommand } from '../../../src/cli/restore.command.js';
import { moveHome, requireHome } from '../../../src/platform/database/deployment.store.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { appendOnline } from '../../db/events/fixture.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { TestClient } from '../../setup/client.js';
import { startSandbox, type TestSandbox } from '../../setup/sandbox/sandbox.js';
import { startServiceProcess } from '../../setup/processes/service-process.js';
import { startTestApp } from '../../setup/test-app.js';
import { createTestDatabase, withDatabase, type TestDatabase } from '../../setup/database/test-database.js';
import { environmentFor } from '../../setup/test-environment.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/database/with-client.js';
import { itAtLength, promise } from '../support/promise.js';
import { seedSessions } from '../support/seeded-sessions.js';

const SESSIONS = 5;

describe('R58: a restored copy harms nobody', () => {
  const closing = closeAfterEach();
  let original: TestDatabase;
  let sandbox: TestSandbox;
  let copyUrl: string;

  beforeEach(async () => {
    original = await createTestDatabase();
    sandbox = await startSandbox();
    closing.push(original.drop, sandbox.stop);
    await withDatabase(original.url, async (database) => {
      await requireHome(database);
      await seedSessions(database, sandbox.control, SESSIONS);
      await appendOnline(database, randomUUID(), 'before');
      await database.query('SELECT sequence_events(true)');
      await database.query(
        `INSERT INTO registrations (tenant_reference, eans, metadata, next_attempt_at)
         VALUES ('in-backup', '{871687400000000017}', '{}', clock_timestamp() + interval '1 day')`,
      );
    });
    copyUrl = await copyOf(original.url);
  });

  async function copyOf(url: string): Promise<string> {
    const server = process.env.PV_TEST_SERVER_URL ?? '';
    const name = `pv_test_${randomBytes(6).toString('hex')}`;
    const source = new URL(url).pathname.slice(1);
    await withClient(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${source}`));
    closing.push(() => withClient(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`)));
    return Object.assign(new URL(url), { pathname: `/${name}` }).href;
  }

  const variables = () => ({ ...sandbox.environment, DATABASE_URL: copyUrl });
  const restore = async (option: string): Promise<void> => {
    const log = jest.spyOn(console, 'log').mockImplementation(() => {});
    const environment: Environment = environmentFor(copyUrl);
    await restoreCommand(() => environment).parseAsync([option], { from: 'user' });
    log.mockRestore();
  };
  const remoteCalls = async (): Promise<number> =>
    Object.values((await sandbox.control.ledger()).requests).reduce((sum, count) => sum + count, 0);

  it('starts on the original, but not on the copy, and makes no remote call from there', async () => {
    await expect(startServiceProcess(variables())).rejects.toThrow('leads to a restored backup or a copy');
    const calls = await remoteCalls();
    promise('R58', { figure: `${calls} remote calls from a copy`, bound: '0' });
    expect(calls).toBe(0);
    await withDatabase(original.url, (database) => requireHome(database));
  });

  it('ends at once if a copy takes the place of its database', async () => {
    const service = await startServiceProcess({
      ...sandbox.environment,
      ...{ DATABASE_URL: original.url, SHUTDOWN_DELAY_MS: '300000' },
    });
    closing.push(() => service.stop('SIGKILL'));
    const [name, copy] = [original.url, copyUrl].map((url) => new URL(url).pathname.slice(1)) as [
      string,
      string,
    ];
    await withClient(process.env.PV_TEST_SERVER_URL ?? '', async (client) => {
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
      await waitFor('the connections have ended', async () => {
        const { rows } = await client.query('SELECT FROM pg_stat_activity WHERE datname = $1', [name]);
        return rows.length === 0;
      });
      for (const [from, to] of [
        [name, `${name}_old`],
        [copy, name],
        [`${name}_old`, copy],
      ])
        await client.query(`ALTER DATABASE ${from} RENAME TO ${to}`);
      await client.query(`ALTER DATABASE ${copy} ALLOW_CONNECTIONS true`);
    });
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.logs()).toContain('leads to a restored backup or a copy');
  });

  it('recognises rows that were loaded into a database on which the service had started', async () => {
    const loaded = await createTestDatabase();
    closing.push(loaded.drop);
    await withDatabase(loaded.url, async (target) => {
      await requireHome(target);
      const homes = await withDatabase(original.url, (source) =>
        source.query<{ home: string }>('SELECT home FROM deployment'),
      );
      // Like psql and pg_restore, which continue after a table that cannot be loaded.
      const load = target.query('INSERT INTO deployment (home) VALUES ($1)', [homes[0]!.home]);
      await Promise.allSettled([load]);
      await expect(requireHome(target)).rejects.toThrow('a copy of the database');
      await moveHome(target);
      await requireHome(target);
    });
  });

  it('starts on a copy after a move', async () => {
    await withDatabase(copyUrl, async (copy) => {
      await expect(requireHome(copy)).rejects.toThrow('a copy of the database');
      await restore('--moved');
      await requireHome(copy);
      await requireHome(copy);
    });
  });

  itAtLength('turns red when a copy starts to poll at once', async () => {
    const service = await startTestApp(variables());
    closing.push(service.close);
    await waitFor('the copy calls the remote service', async () => (await remoteCalls()) > 0);
  });

  itAtLength('continues as before after a move', async () => {
    await restore('--moved');
    const service = await startServiceProcess(variables());
    closing.push(() => service.stop('SIGKILL'));
    await waitFor('sessions are read', async () => (await remoteCalls()) > 0);
    await withDatabase(original.url, async (database) => {
      await requireHome(database);
      await moveHome(database);
      await requireHome(database);
    });
  });

  it('registers nobody twice: what may have been registered after the backup waits for a person', async () => {
    await restore('--confirm');
    const service = await startTestApp(variables());
    closing.push(service.close);
    const client = TestClient.of(service);
    const before = (await sandbox.control.users()).length;
    const items = await client.list<{ tenantReference: string; status: string }>('/registrations');
    expect(items).toMatchObject([{ tenantReference: 'in-backup', status: 'uncertain' }]);

    const status = async (): Promise<string> => (await client.call('GET', '/status')).text;
    const waits = 'since a restore, new registrations and campaigns wait';
    await waitFor('the reason', async () => (await status()).includes(waits));
    const request = { tenantReference: 'after-backup', gridLocations: [{ ean: '541448860004178019' }] };
    const held = await client.call<{ id: string; status: string }>('POST', '/users', request);
    expect([held.status, held.body.status]).toEqual([202, 'uncertain']);
    expect((await client.call('POST', '/users', request)).body.id).toBe(held.body.id);
    expect(await sandbox.control.users()).toHaveLength(before);
    const names = (await client.events()).map(({ type }) => type);
    expect(names.filter((type) => type === 'pv.user.registration_uncertain.v1')).toHaveLength(2);

    // Decides like a person who has found that the remote service does not know the user.
    expect((await client.call('POST', `/registrations/${held.body.id}/retry`)).status).toBe(200);
    await waitFor(
      'it is registered',
      async () => (await client.call('POST', '/users', request)).status === 200,
    );
    await restore('--none-registered');
    await waitFor('its end', async () => !(await status()).includes(waits));
    const another = { ...request, tenantReference: randomUUID() };
    expect((await client.call('POST', '/users', another)).status).toBe(201);
    expect(await sandbox.control.users()).toHaveLength(before + 2);
  });

  it('assigns no sequence twice, and refuses a reader whose place was lost', async () => {
    await restore('--confirm');
    const service = await startTestApp({ ...variables(), ROLE: 'api' });
    closing.push(service.close);
    const client = TestClient.of(service);
    const feed = (query: string) =>
      client.call<{ items: { sequence: string; subject: string }[]; next: string }>(
        'GET',
        `/events?${query}`,
      );
    const lost = await feed('after=50');
    expect(lost.status).toBe(400);
    expect(lost.text).toContain('was lost when a backup was restored');
    const [restored] = await service.database.query<{ last: string; first: string }>(
      'SELECT last_sequence AS last, first_sequence AS first FROM restores',
    );
    const [last, first] = [BigInt(restored!.last), BigInt(restored!.first)];
    const losses = [last, last + 1n, first - 1n, first].map((at) =>
      service.app.get(EventsStore).findLoss(String(at)),
    );
    const loss = { reason: 'restored', last: String(last) };
    expect(await Promise.all(losses)).toEqual([null, loss, loss, null]);
    const subject = randomUUID();
    await withDatabase(copyUrl, (database) => appendOnline(database, subject, 'after'));
    const event = await waitFor('the event has a sequence', async () =>
      (await feed('after=1')).body.items.find((item) => item.subject === subject),
    );
    expect(Number(event.sequence)).toBeGreaterThan(100_000_000);
    for (let after = '0', pages = 0; ; pages++) {
      const page = (await feed(`after=${after}&sessionId=${subject}`)).body;
      if (page.items.length > 0) break;
      expect(pages).toBeLessThan(3);
      after = page.next;
    }
    expect((await feed('after=50')).status).toBe(400);
    const stream = await fetch(`${service.url}/api/v1/events/stream`, {
      headers: { authorization: `Bearer ${service.adminKey}`, 'last-event-id': '50' },
    });
    expect(stream.status).toBe(400);
  });
});
