import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsoleFiles } from '../../../src/access/console/console-files.service.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { withReplica } from '../replica.js';

const INDEX = '<!doctype html><script type="module" src="/console/assets/index-4f2a.js"></script>';
const SCRIPT = 'console.log("the console");'.repeat(100);
const SECRET = 'not for browsers';

let folder: string;
let service: TestApp;

const serve = (app: TestApp['app'], from: string) =>
  void Object.assign(app.get(ConsoleFiles), { folder: from });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pv-console-'));
  await mkdir(join(folder, 'console/assets'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), SECRET);
  await writeFile(join(folder, 'console/index.html'), INDEX);
  await writeFile(join(folder, 'console/favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(folder, 'console/assets/index-4f2a.js'), SCRIPT);
  service = await startTestApp({}, { prepare: (app) => serve(app, join(folder, 'console')) });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const get = (path: string) => fetch(`${service.url}${path}`);

/** Sends a path unchanged: fetch would resolve the dots in it. */
const getRaw = (path: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    request({ hostname, port, path }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .on('error', reject)
      .end();
  });

describe('the page of the console', () => {
  it.each(['/console', '/console/', '/console/sessions/7f1c?x=1', '/console/nothing/at/all'])(
    'is the response to %s, and is not stored',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(INDEX);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      });
    },
  );

  it('loads files whose names contain their hash, which browsers keep', async () => {
    const response = await get('/console/assets/index-4f2a.js');
    expect(await response.text()).toBe(SCRIPT);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
    });
    expect((await get('/console/favicon.svg')).headers.get('content-type')).toBe('image/svg+xml');
  });

  it('is sent as it is to a client that takes no gzip', async () => {
    expect(await getRaw('/console/assets/index-4f2a.js')).toEqual({ status: 200, body: SCRIPT });
  });

  it('has no other files below assets: an old name is a 404, not the page', async () => {
    expect((await get('/console/assets/index-0000.js')).status).toBe(404);
    expect((await get('/console/assets/')).status).toBe(404);
  });

  it.each([
    '/console/../secret.txt',
    '/console/assets/../../secret.txt',
    '/console/assets/..%2f..%2fsecret.txt',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console//etc/passwd',
    '/console/assets/%00',
    '/console/..\\secret.txt',
  ])('leads to no file outside of its folder: %s', async (path) => {
    const { status, body } = await getRaw(path);
    expect([200, 400, 404]).toContain(status);
    expect(body).not.toContain(SECRET);
    if (status === 200) expect(body).toBe(INDEX);
  });

  it('says so if it is not built', async () => {
    await withReplica(
      service,
      {},
      async (unbuilt) => {
        const response = await fetch(`${unbuilt.url}/console`);
        expect(await response.text()).toContain('npm run build');
      },
      { prepare: (app) => serve(app, join(folder, 'nothing')) },
    );
  });

  it.each([
    ['it is switched off', { CONSOLE: false }],
    ['the process is a worker', { ROLE: 'worker' } as const],
  ])('is not there if %s', async (_what, settings) => {
    await withReplica(service, settings, async (other) => {
      for (const path of [
        '/console',
        '/console/sessions',
        '/console/session',
        '/console/assets/index-4f2a.js',
      ])
        expect([path, (await fetch(`${other.url}${path}`)).status]).toEqual([path, 404]);
      const signIn = await fetch(`${other.url}/console/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key: other.adminKey }),
      });
      expect(signIn.status).toBe(404);
    });
  });
});
