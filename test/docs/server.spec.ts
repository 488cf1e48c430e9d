import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate } from '../../src/platform/database/migrations/migrate.js';
import { Database } from '../../src/platform/database/database.js';
import { findReaderFault } from '../../src/platform/database/reader-role.store.js';
import { readFiles } from '../../src/platform/env/environment-files.js';
import { findUnread } from '../../src/platform/env/environment-names.js';
import { readEnvironment } from '../../src/platform/env/read-environment.js';
import { STOP_WITHIN_MS } from '../../src/platform/shutdown/limits.js';
import { createTestDatabase } from '../setup/test-database.js';
import { environmentFor } from '../setup/test-environment.js';
import { withClient } from '../setup/with-client.js';
import { blockOf, readPage } from './readme.js';

let page: string;
let unit: string;
beforeAll(async () => {
  page = await readPage('docs/server.md');
  unit = await readPage('ops/systemd/pv-onboarding@.service');
});

const valuesOf = (name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

describe('the SQL of docs/server.md', () => {
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
      expect((await migrate(url.href)).length).toBeGreaterThan(40);
      await withClient(url.href, async (client) => {
        const { rows } = await client.query(
          `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS "isStrong",
                  current_setting('server_encoding') AS encoding
             FROM pg_roles WHERE rolname = current_user`,
        );
        expect(rows).toEqual([{ isStrong: false, encoding: 'UTF8' }]);
      });
      const database = new Database(environmentFor(url.href));
      expect(await findReaderFault(database)).toBeNull();
      await database.onApplicationShutdown();
    } finally {
      await withClient(server.url, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await client.query(`DROP ROLE ${name}`);
      });
      await server.drop();
    }
  });
});

describe('the unit for systemd', () => {
  it('lets Node list the network interfaces, as Fastify does with HOST=0.0.0.0', () => {
    expect(valuesOf('RestrictAddressFamilies')[0]?.split(' ')).toContain('AF_NETLINK');
  });

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pv-unit-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('gives production every variable that it requires, with those of the page, and the time to stop', async () => {
    const secrets: Record<string, string> = {
      DATABASE_URL: 'postgresql://user:password@postgres.example/pv',
      SCS_API_KEY: 'api-key',
      SCS_CLIENT_SECRET: 'client-secret',
      ADMIN_API_KEY: 'administrator-key-of-32-characters',
      ENCRYPTION_KEYS: Buffer.alloc(32, 'key of this spec').toString('base64'),
    };
    const loaded = valuesOf('LoadCredential').map((value) => value.split(':')[0]!);
    expect(loaded.sort()).toEqual(Object.keys(secrets).sort());
    for (const name of loaded) await writeFile(join(folder, name), secrets[name]!);
    const variables = [
      ...valuesOf('Environment').flatMap((value) => value.split(' ')),
      ...blockOf(page, 'service.env').split('\n'),
    ].map((line) =>
      line.replace('%i', 'all').replace('%d', folder).replace('https://…', 'https://scs.example'),
    );
    const source = Object.fromEntries(variables.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    expect(findUnread(source)).toEqual([]);
    const { variables: read, problems } = readFiles(source);
    const environment = readEnvironment(read, problems);
    expect(environment).toMatchObject({ NODE_ENV: 'production', ROLE: 'all' });
    expect(Number(valuesOf('TimeoutStopSec')[0]) * 1_000).toBeGreaterThanOrEqual(
      environment.SHUTDOWN_DELAY_MS + STOP_WITHIN_MS.process,
    );
  });
});
