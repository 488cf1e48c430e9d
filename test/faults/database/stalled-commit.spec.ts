import { beforeEach, describe, expect, it } from '@jest/globals';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import type { StatusView } from '../../../src/status/status.view.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { startOwnPostgres } from '../../setup/database/own-postgres.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { withClient } from '../../setup/database/with-client.js';

describe('a service whose PostgreSQL has lost its synchronous standby', () => {
  const closing = closeAfterEach();
  let service: TestApp;
  let url: string;

  beforeEach(async () => {
    const server = await startOwnPostgres({ synchronous_commit: 'on' });
    closing.push(server.stop);
    url = server.url;
    await migrate(url);
    service = await startTestApp({ DATABASE_URL: url });
    closing.push(service.close, () => setStandby(''));
  });

  const setStandby = (names: string) =>
    withClient(url, async (client) => {
      await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
      await client.query('SELECT pg_reload_conf()');
    });

  const ready = async () => {
    const response = await fetch(`${service.url}/health/ready`);
    return [response.status, ((await response.json()) as { missing: string[] }).missing] as const;
  };

  const status = async () => (await TestClient.of(service).call<StatusView>('GET', '/status')).body;

  it('is not ready until the standby is back, and says in its status what it waits for', async () => {
    await waitFor('the service is ready', async () => (await ready())[0] === 200);
    await setStandby('absent');
    const unready = [503, ['the database has not responded within 900 ms']];
    await waitFor(
      'the service is unready',
      async () => JSON.stringify(await ready()) === JSON.stringify(unready),
    );
    let codes: string[] = [];
    await waitFor('no process has given a sign of life', async () => {
      const { replicas, reasons } = await status();
      codes = reasons.map(({ code, detail }) => `${code}: ${detail}`);
      return !replicas.some(({ isAlive }) => isAlive);
    });
    expect(codes).toContain(
      'writes_fail: the responding process cannot write its sign of life: PostgreSQL has not confirmed it',
    );
    expect(codes.join()).not.toMatch('no_api');
    await setStandby('');
    await waitFor('the service is ready', async () => (await ready())[0] === 200);
  });
});
