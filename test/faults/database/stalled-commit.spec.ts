import { beforeEach, describe, it } from '@jest/globals';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { closeAfterEach } from '../../setup/close-after-each.js';
import { startOwnPostgres } from '../../setup/database/own-postgres.js';
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

  it('is not ready until the standby is back', async () => {
    await waitFor('the service is ready', async () => (await ready())[0] === 200);
    await setStandby('absent');
    const unready = [503, ['the database has not responded within 900 ms']];
    await waitFor(
      'the service is unready',
      async () => JSON.stringify(await ready()) === JSON.stringify(unready),
    );
    await setStandby('');
    await waitFor('the service is ready', async () => (await ready())[0] === 200);
  });
});
