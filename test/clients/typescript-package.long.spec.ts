import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { TestClient } from '../setup/client.js';
import { closeAfterEach } from '../setup/close-after-each.js';
import { freePort } from '../../src/local/free-port.js';
import { startTestApp, type TestApp } from '../setup/test-app.js';
import { waitFor } from '../setup/wait-for.js';

jest.setTimeout(240_000);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = join(ROOT, 'clients/typescript');
const EXAMPLES = ['onboard', 'receiver', 'route-handler', 'worker'];
const SECRET = `whsec_${Buffer.alloc(32, 'secret of the examples').toString('base64')}`;
/** Serves the route handler as Next.js would. */
const SERVE_ROUTE = `
  import { createServer } from 'node:http';
  import { POST } from './route-handler.js';
  createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { status } = await POST(new Request('http://app', { method: 'POST', headers: request.headers, body }));
    response.writeHead(status).end();
  }).listen(process.env.PORT);`;

const run = promisify(execFile);

describe('the package of the TypeScript client', () => {
  let folder: string;
  let service: TestApp;
  const closing = closeAfterEach();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pv-client-'));
    [service] = await Promise.all([startTestApp(), installPackage()]);
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  /** Packs the client, installs it in an empty project, and compiles its examples there. */
  async function installPackage(): Promise<void> {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    // npm hands its settings on to the tests: those of the repository let no script run, and a script builds the package.
    const pack = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder];
    const { stdout } = await run('npm', pack, { cwd: CLIENT });
    const file = `./${stdout.trim().split('\n').at(-1)}`;
    const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    await run('npm', ['install', file, ...quiet], { cwd: folder });
    const examples = join(folder, 'node_modules/@pv-onboarding/client/examples');
    await cp(examples, join(folder, 'src'), { recursive: true });
    // Express is a package of the example, not of the client.
    for (const name of ['express', '@types'])
      await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    const types = ['--types', 'node'];
    const options = ['--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', ...types];
    const sources = EXAMPLES.map((name) => `src/${name}.ts`);
    const compiler = [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      ...options,
      '--rootDir',
      'src',
      '--outDir',
      '.',
    ];
    await run(process.execPath, [...compiler, ...sources], { cwd: folder }).catch(({ stdout: errors }) => {
      throw new Error(String(errors));
    });
    await writeFile(join(folder, 'serve-route.js'), SERVE_ROUTE);
  }

  function start(name: string, env: Record<string, string>) {
    const child = spawn(process.execPath, [`${name}.js`], {
      cwd: folder,
      env: { PATH: process.env.PATH, PV_URL: service.url, PV_KEY: service.adminKey, ...env },
    });
    let output = '';
    child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
    const exited = new Promise<number | null>((resolve) => void child.once('close', resolve));
    closing.push(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const waitForOutput = (text: string) =>
      waitFor(`${name} to print ${text}`, () => output.includes(text)).catch((error) => {
        throw new Error(output, { cause: error });
      });
    return { waitForOutput, output: () => output, exited, kill: () => child.kill('SIGTERM') };
  }

  async function startReceiver(name: string) {
    const client = TestClient.of(service);
    const port = await freePort();
    const receiver = start(name, { PORT: String(port), WEBHOOK_SECRETS: `whsec_b3RoZXI=,${SECRET}` });
    const url = `http://127.0.0.1:${port}/webhooks`;
    await waitFor(`${name} to listen`, () =>
      fetch(url, { method: 'POST' }).then(({ status }) => status === 401),
    );
    await client.call('POST', '/webhook-endpoints', { url, types: ['session.online'], secret: SECRET });
    return receiver;
  }

  it('has examples that take a customer online and receive what happens', async () => {
    const receivers = await Promise.all(['receiver', 'serve-route'].map(startReceiver));
    const worker = start('worker', { PLACE: join(folder, 'place') });
    const app = start('onboard', { EAN: '871685920000000017' });
    await app.waitForOutput('The owner opens');
    const { body } = await TestClient.of(service).call<{ items: [{ id: string }] }>('GET', '/onboarding/pv');
    const { id } = body.items[0];
    await service.sandbox?.control.complete(id, { inverters: 1, onlineAfterMs: 0 });
    await app.waitForOutput('online: ');
    expect(await app.exited).toBe(0);
    for (const each of [...receivers, worker]) await each.waitForOutput(`${id} is online`);
    worker.kill();
    expect(await worker.exited).toBe(0);
  });
});
