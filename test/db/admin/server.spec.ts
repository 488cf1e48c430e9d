import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import type { Child } from '../../../src/local/child.js';
import { migrate } from '../../../src/platform/database/migrations/migrate.js';
import { startOwnPostgres } from '../../setup/own-postgres.js';
import { withClient } from '../../setup/with-client.js';

// Needs a new server, because PostgreSQL's roles belong to a server and not to a database.
describe('the reader role, on a new server', () => {
  let server: Child;

  beforeAll(async () => {
    server = await startOwnPostgres();
  });
  afterAll(() => server.stop());

  const addressOf = (database: string, user?: string) => {
    const url = new URL(server.url);
    url.pathname = `/${database}`;
    if (user !== undefined) {
      url.username = user;
      url.password = user;
    }
    return url.href;
  };

  async function administer<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
    return withClient(server.url, async (client) => (await client.query<Row>(sql)).rows);
  }

  it('is left to an administrator, with a warning in the log, if the user that migrates may not create it', async () => {
    await administer(`CREATE ROLE modest LOGIN PASSWORD 'modest'`);
    await administer('CREATE DATABASE modest OWNER modest');
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await expect(migrate(addressOf('modest', 'modest'))).resolves.toContain('20261126000000_baseline');
    const warnings = warned.mock.calls.map(([message]) => String(message));
    warned.mockRestore();
    expect(warnings).toEqual([
      expect.stringMatching(
        /CREATE ROLE pv_onboarding_reader NOLOGIN; .* SELECT admin\.grant_reader\('pv_onboarding_reader'\);/,
      ),
    ]);
    expect(await administer(`SELECT 1 FROM pg_roles WHERE rolname = 'pv_onboarding_reader'`)).toEqual([]);
  });

  it('is created once when several databases are migrated at the same time', async () => {
    const databases = ['one', 'two', 'three', 'four'];
    for (const name of databases) await administer(`CREATE DATABASE ${name}`);
    const applied = await Promise.all(databases.map((name) => migrate(addressOf(name))));
    expect(applied.map((names) => names.includes('20261126000000_baseline'))).toEqual([true, true, true, true]);
    expect(
      await administer(`SELECT rolcanlogin FROM pg_roles WHERE rolname = 'pv_onboarding_reader'`),
    ).toEqual([{ rolcanlogin: false }]);
  });
});
