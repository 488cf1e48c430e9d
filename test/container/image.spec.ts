import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { freePort } from '../setup/receivers/programs.js';
import { TestClient } from '../setup/client.js';
import { SandboxControl } from '../setup/sandbox-control.js';
import { createTestDatabase } from '../setup/test-database.js';
import { waitFor } from '../setup/wait-for.js';
import { bytesOf, CONFIG, filesLike, finishInImage, runInImage, type ImageProcess } from './image.js';

jest.setTimeout(60_000);

const MEGABYTE = 2 ** 20;
const ADMIN_KEY = 'administrator-key-of-the-image-0123456789';
/** As in docker-compose.yml, but on the loopback. */
const LOOPBACK = { HOST: '127.0.0.1' };
const SANDBOX = {
  SCS_API_KEY: 'sandbox-api-key',
  SCS_CLIENT_ID: 'sandbox-client-id',
  SCS_CLIENT_SECRET: 'sandbox-client-secret',
};

const running: ImageProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((process_) => process_.stop()));
});

function start(command: readonly string[], env: Readonly<Record<string, string>>): ImageProcess {
  const started = runInImage(command, env);
  running.push(started);
  return started;
}

const statusOf = (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

describe('the image', () => {
  it('adds less than 120 MB to its base, and nothing that only compilers and debuggers need', () => {
    expect(bytesOf('/app')).toBeLessThan(120 * MEGABYTE);
    expect(filesLike('/app/node_modules', '*.map', '*.d.ts', '*.d.mts', '*.d.cts')).toEqual([]);
    expect(filesLike('/app/dist', '.tsbuildinfo', '*.spec.js')).toEqual([]);
    expect(filesLike('/usr/local', 'npm*', 'yarn*')).toEqual([]);
    // What the searches above would find in a folder that exists.
    expect(filesLike('/app/node_modules/pg', 'package.json')).toHaveLength(1);
  });

  it('is labelled, maps its stack traces and runs Node 24', async () => {
    expect(CONFIG.Labels).toMatchObject({ 'org.opencontainers.image.title': 'PV Onboarding' });
    const { output } = await finishInImage([
      'node',
      '-p',
      'process.sourceMapsEnabled + " " + process.version',
    ]);
    expect(output).toMatch(/^true v24\./);
    expect(filesLike('/app/dist', 'main.js.map')).not.toEqual([]);
  });

  it('runs as node without capabilities, on files that it cannot change', async () => {
    const { output } = await finishInImage([
      'sh',
      '-c',
      'id -un; grep CapBnd /proc/self/status; touch /app/x',
    ]);
    expect(output).toMatch(/^node\nCapBnd:\s+0+\ntouch: .*Read-only file system\n$/);
  });

  it('names the settings that are missing', async () => {
    const { code, output } = await finishInImage(CONFIG.Cmd);
    expect(code).toBe(1);
    expect(output).toContain('DATABASE_URL is required in production');
  });
});

describe('the processes of docker-compose.yml', () => {
  let sandboxUrl: string;
  let env: Record<string, string>;
  let port: number;
  beforeAll(async () => {
    const sandboxPort = await freePort();
    sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
    port = await freePort();
    env = {
      ...LOOPBACK,
      ...SANDBOX,
      NODE_ENV: 'development',
      PORT: String(port),
      SCS_BASE_URL: sandboxUrl,
      ADMIN_API_KEY: ADMIN_KEY,
      ENCRYPTION_KEYS: Buffer.alloc(32, 'key of the image').toString('base64'),
      POLL_MIN_INTERVAL_MS: '100',
    };
  });

  it('migrate, serve, bring an installation online, and stop in time', async () => {
    const database = await createTestDatabase('empty');
    env.DATABASE_URL = database.url;
    const migrated = await finishInImage(['pv-onboarding', 'migrate'], env);
    expect(migrated).toMatchObject({ code: 0, output: expect.stringContaining('applied') });

    start(['node', 'dist/sandbox/main.js'], { SANDBOX_PORT: new URL(sandboxUrl).port });
    const api = start(CONFIG.Cmd, { ...env, ROLE: 'api' });
    const worker = start(CONFIG.Cmd, { ...env, PORT: String(await freePort()), ROLE: 'worker' });
    const [, ...health] = CONFIG.Healthcheck.Test;
    expect((await finishInImage(health, { PORT: String(await freePort()) })).code).toBe(1);
    await waitFor('the api is healthy', async () => (await finishInImage(health, env)).code === 0, 30_000);

    const listed = await finishInImage(['pv-onboarding', 'keys', 'list'], env);
    expect(listed).toMatchObject({ code: 0 });
    const client = new TestClient(`http://127.0.0.1:${port}`, ADMIN_KEY);
    const { id } = await client.startNew();
    const control = new SandboxControl(sandboxUrl);
    await control.online(id, { inverters: 1 });
    await waitFor(
      'the installation is online',
      async () => (await client.session(id)).state === 'online',
      20_000,
    );

    for (const stopped of [api, worker]) {
      const since = Date.now();
      expect(await stopped.stop()).toBe(0);
      expect(Date.now() - since).toBeLessThan(10_000);
    }
    expect(await statusOf(`http://127.0.0.1:${port}/health/live`)).toBe(0);
    await Promise.all(running.splice(0).map((left) => left.stop()));
    await database.drop();
  });
});
