import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SandboxControl } from '../setup/sandbox/sandbox-control.js';
import { TestClient } from '../setup/client.js';
import { waitFor } from '../setup/wait-for.js';
import { withClient } from '../setup/database/with-client.js';
import { readCompose, secretsOfHead, variablesOfHead } from './compose-file.js';
import { freePort } from '../../src/local/free-port.js';
import { blockOf, readPage } from '../docs/pages.js';
import { Composition } from './composition.js';

jest.setTimeout(240_000);

const SERVER = process.env.PV_TEST_SERVER_URL ?? '';
const REAL = { SCS_BASE_URL: 'https://scs.example', SCS_CLIENT_ID: 'client' };
const ISSUED = { SCS_API_KEY: 'issued-api-key\n', SCS_CLIENT_SECRET: 'issued-client-secret\n' };

const SUCCEEDED = { code: 0, output: expect.any(String) };

let composition: Composition;
afterEach(async () => {
  await composition.close();
  await drop();
});

/** Creates the networks, the secrets, and the database of the service `postgres`. The role of the database is not a superuser. */
async function create(
  ...[dotEnv, issued]: Parameters<typeof Composition.create>
): Promise<Readonly<Record<string, string>>> {
  composition = await Composition.create(dotEnv, issued);
  const { POSTGRES_USER, POSTGRES_DB } = composition.compose.services.postgres!.environment!;
  const secret = async (name: string) =>
    (await readFile(join(composition.folder, 'secrets', name), 'utf8')).trim();
  const { hostname, port } = new URL(SERVER);
  await composition.network.forward(composition.network.host, 5432, { host: hostname, port: Number(port) });
  await withClient(SERVER, async (client) => {
    await client.query(`CREATE ROLE ${POSTGRES_USER} LOGIN PASSWORD '${await secret('POSTGRES_PASSWORD')}'`);
    await client.query(`CREATE DATABASE ${POSTGRES_DB} OWNER ${POSTGRES_USER} TEMPLATE template0`);
  });
  const names = Object.keys(composition.compose.secrets);
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await secret(name)])));
}

async function drop(): Promise<void> {
  const { POSTGRES_USER, POSTGRES_DB } = composition.compose.services.postgres!.environment!;
  await withClient(SERVER, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${POSTGRES_DB} WITH (FORCE)`);
    await client.query(`DROP DATABASE IF EXISTS ${POSTGRES_DB}_saved`);
    await client.query(`DROP ROLE IF EXISTS ${POSTGRES_USER}`);
  });
}

/** Copies the database in place of `program`, since the tests have no client programs of the version of their server. */
async function copyInsteadOf([program]: readonly string[]): Promise<void> {
  const { POSTGRES_USER, POSTGRES_DB } = composition.compose.services.postgres!.environment!;
  const statements: Readonly<Record<string, string>> = {
    dropdb: `ALTER DATABASE ${POSTGRES_DB} RENAME TO ${POSTGRES_DB}_saved`,
    createdb: `CREATE DATABASE ${POSTGRES_DB} OWNER ${POSTGRES_USER} TEMPLATE ${POSTGRES_DB}_saved`,
    pg_restore: `DROP DATABASE ${POSTGRES_DB}_saved`,
    pg_dump: '',
  };
  await withClient(SERVER, (client) => client.query(statements[program!]!));
}

describe('docker-compose.yml, run without an engine', () => {
  it('migrates and serves in production, with its secrets in files alone', async () => {
    const secrets = await create(REAL, ISSUED);
    const [api, worker] = [await composition.up('api'), await composition.up('worker')];
    expect([api.length, worker.length]).toEqual([2, 2]);
    for (const replica of [...api, ...worker]) {
      await replica.healthy();
      const files = ['environ', 'cmdline'].map((name) => readFile(`/proc/${replica.pid}/${name}`, 'utf8'));
      const text = (await Promise.all(files)).join('') + replica.output();
      expect(Object.keys(secrets).filter((name) => text.includes(secrets[name]!))).toEqual([]);
      expect(text).toContain('NODE_ENV=production');
    }
    const client = new TestClient(`http://${api[1]!.address}:3000`, secrets.ADMIN_API_KEY);
    expect((await client.call('GET', '/status')).status).toBe(200);
    expect((await fetch(`http://${worker[1]!.address}:9464/metrics`)).status).toBe(200);

    expect(await api[0]!.exec(['pv-onboarding', 'keys', 'list'])).toEqual(SUCCEEDED);
    expect(await composition.run('migrate', ['pv-onboarding', 'migrate'])).toEqual(SUCCEEDED);
    expect(await api[0]!.exec(['pv-onboarding', 'status'])).toEqual(SUCCEEDED);
    for (const replica of [...api, ...worker]) expect(await replica.end()).toBe(0);
  });

  it('brings an installation online at the sandbox, whose pages the browser of the host reaches', async () => {
    const compose = await readCompose();
    const dotEnv = variablesOfHead(compose, '# To use the sandbox');
    const secrets = await create({ ...dotEnv, POLL_MIN_INTERVAL_MS: '100' }, secretsOfHead(compose));
    const [sandbox] = await composition.up('sandbox');
    const [[api], [, worker]] = [await composition.up('api'), await composition.up('worker')];
    await api!.healthy();
    await worker!.healthy();
    // Outside production, the command finds the service by a file in the tmpfs.
    expect(await api!.exec(['pv-onboarding', 'sessions', 'list'])).toMatchObject({ code: 0 });

    // Publishes another port than the compose file, whose port may be in use.
    const port = await freePort();
    await composition.network.forward('127.0.0.1', port, { host: sandbox!.address, port: 4010 });
    const published = `http://localhost:${port}`;
    await waitFor('the sandbox', async () => (await fetch(published)).ok);

    const client = new TestClient(`http://${api!.address}:3000`, secrets.ADMIN_API_KEY);
    const { id, startUrl } = await client.startNew();
    const address = String(compose.services.sandbox!.environment!.SANDBOX_PUBLIC_URL);
    expect(startUrl).toMatch(address);
    expect((await fetch(startUrl!.replace(address, published))).status).toBe(200);
    await new SandboxControl(published).online(id, { inverters: 1 });
    await client.untilState(id, 'online');
  });

  it('is restored by the commands of docs/postgresql.md, and its key is rotated by that of docs/security.md', async () => {
    await create(REAL, ISSUED);
    const [api] = await composition.up('api');
    await api!.healthy();
    const block = blockOf(await readPage('docs/postgresql.md'), 'compose-restore');
    const lines = block.split('\n').map((line) => line.replace(/ +(#|[<>] ).*$/, ''));
    for (const line of lines.filter(Boolean)) {
      const [, action = '', words = ''] = /^docker compose (\w+) (.*)$/.exec(line)!;
      const [name = '', ...command] = words.split(' ').filter((word) => !/^(-T|--rm|-d)$/.test(word));
      if (action === 'stop') for (const each of [name, ...command]) await composition.stop(each);
      else if (name === 'postgres') await copyInsteadOf(command);
      else if (action === 'run')
        expect([line, await composition.run(name, command)]).toEqual([line, SUCCEEDED]);
      else if (action === 'up') {
        const [restored] = await composition.up('api');
        await restored!.healthy();
      } else {
        const [replica] = await composition.up(name);
        expect([line, await replica!.exec(command)]).toEqual([line, SUCCEEDED]);
      }
      if (line === 'docker compose run --rm migrate')
        expect(await composition.run('api')).toMatchObject({
          code: 1,
          output: expect.stringContaining('leads to a restored backup'),
        });
    }
    const page = await readPage('docs/security.md');
    const rotation = /docker compose exec api (pv-onboarding keys rotate-encryption)/.exec(page)![1]!;
    const [restored] = await composition.up('api');
    expect(await restored!.exec(rotation.split(' '))).toMatchObject({
      code: 0,
      output: expect.stringContaining('0 under another key'),
    });
  });

  it('names a secret that its user cannot read, and starts nothing', async () => {
    await create(REAL, ISSUED);
    await chmod(join(composition.folder, 'secrets/SCS_API_KEY'), 0o600);
    await expect(composition.up('api')).rejects.toThrow('SCS_API_KEY_FILE cannot be read (EACCES)');
  });
});
