import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { createTestDatabase } from '../setup/database/test-database.js';
import { withClient } from '../setup/database/with-client.js';
import { blockOf, readPage } from './pages.js';

let page: string;
beforeAll(async () => {
  page = await readPage('docs/postgresql.md');
});

describe('the SQL of docs/postgresql.md', () => {
  it('creates a role with few rights and a database in UTF8, which the service can migrate and read', async () => {
    const server = await createTestDatabase('empty');
    const name = `pv_test_${randomBytes(6).toString('hex')}`;
    // The role of readers belongs to the whole server, so other tests may have created it.
    const [role, create, revoke, , member] = blockOf(page, 'database').split('\n');
    await withClient(server.url, async (client) => {
      await client.query(
        `DO $$ BEGIN CREATE ROLE pv_onboarding_reader; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`,
      );
      for (const statement of [role, create, revoke, member])
        await client.query(statement!.replace(/\bpv_onboarding\b/g, name));
    });
    const url = new URL(server.url);
    Object.assign(url, { username: name, password: 'change-me', pathname: `/${name}` });
    try {
      expect((await migrate(url.href)).length).toBeGreaterThan(0);
      await withClient(url.href, async (client) => {
        const { rows } = await client.query(
          `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS "isStrong",
                  current_setting('server_encoding') AS encoding
             FROM pg_roles WHERE rolname = current_user`,
        );
        expect(rows).toEqual([{ isStrong: false, encoding: 'UTF8' }]);
        await client.query('SET ROLE pv_onboarding_reader; SELECT FROM admin.sessions LIMIT 0');
      });
    } finally {
      await withClient(server.url, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await client.query(`DROP ROLE ${name}`);
      });
      await server.drop();
    }
  });
});
