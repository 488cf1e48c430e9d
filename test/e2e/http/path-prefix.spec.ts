import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsoleFiles } from '../../../src/console-access/console-files.service.js';
import { listen } from '../../setup/receivers/servers.js';
import { useFolder } from '../../setup/folder.js';
import { CLIENT, signInAtProvider, startIdentityProvider } from '../../setup/oidc/identity-provider.js';
import { newEan } from '../../setup/ean.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import type { TestProcess } from '../../setup/processes/test-process.js';
import { startReplica } from '../replica.js';

const PREFIX = '/tools/pv';
const PUBLIC_URL = `https://pv.example${PREFIX}`;
/** The provider of the tests leads back to the loopback only. */
const URL_OF_PROVIDER = `http://127.0.0.1:9${PREFIX}`;
const INDEX =
  '<meta name="path-prefix" content="" /><link href="./icon.svg" /><script type="module" src="./assets/index-4f2a.js"></script>';

const folder = useFolder();
let provider: TestProcess;
let service: TestApp;
let byProvider: TestApp;
const proxies: Server[] = [];

/** Starts a proxy at PUBLIC_URL that passes on the paths below PREFIX only. */
async function startProxy(target: TestApp, strips: boolean): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(PREFIX)) return void outgoing.writeHead(502).end('not below the path of the service');
    const path = strips ? url.slice(PREFIX.length) || '/' : url;
    const passed = request(
      target.url + path,
      { method, headers: { ...headers, host: 'pv.example' } },
      (response) => {
        outgoing.writeHead(response.statusCode!, response.headers);
        response.pipe(outgoing);
      },
    );
    incoming.pipe(passed);
  });
  proxies.push(proxy);
  return `http://127.0.0.1:${await listen(proxy)}`;
}

beforeAll(async () => {
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), INDEX);
  await writeFile(join(folder, 'assets/index-4f2a.js'), '// the console');
  const options = { prepare: (app: TestApp['app']) => void Object.assign(app.get(ConsoleFiles), { folder }) };
  provider = await startIdentityProvider({ ann: ['leads'] });
  service = await startTestApp({ PUBLIC_URL: `${PUBLIC_URL}//`, ROLE: 'api' }, options);
  byProvider = await startReplica(service, {
    PUBLIC_URL: URL_OF_PROVIDER,
    ROLE: 'api',
    CONSOLE_OIDC_ISSUER: provider.url,
    CONSOLE_OIDC_CLIENT_ID: CLIENT.CLIENT_ID,
    CONSOLE_OIDC_CLIENT_SECRET: CLIENT.CLIENT_SECRET,
    CONSOLE_OIDC_GROUPS: 'leads=admin',
  });
});
afterAll(async () => {
  for (const proxy of proxies) proxy.close().closeAllConnections();
  await byProvider.close();
  await service.close();
  await provider.stop();
});

describe.each([
  ['removes', true],
  ['keeps', false],
])('below a path, behind a proxy that %s it', (_, strips) => {
  /** Follows links as a browser at PUBLIC_URL does. */
  let open: (address: string, init?: RequestInit) => Promise<Response>;
  let openByProvider: typeof open;

  const browserAt = async (target: TestApp): Promise<typeof open> => {
    const proxy = await startProxy(target, strips);
    return (address, init) => {
      const { pathname, search } = new URL(address, PUBLIC_URL);
      return fetch(proxy + pathname + search, { redirect: 'manual', ...init });
    };
  };
  const call = (method: string, path: string, body?: object) =>
    open(`${PREFIX}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });

  beforeAll(async () => {
    open = await browserAt(service);
    openByProvider = await browserAt(byProvider);
  });

  it('leads to the documentation, whose files and description are found', async () => {
    for (const root of [PREFIX, `${PREFIX}/`]) {
      const docs = (await open(root)).headers.get('location')!;
      expect(docs).toBe(`${PREFIX}/docs`);
      for (const path of [docs, `${docs}/events`, `${docs}/api`]) {
        const page = await (await open(path)).text();
        const links = [...page.matchAll(/(?:href|src)="(?!#|https?:)([^"]+)"/g)].map(
          ([, link]) => new URL(link!, new URL(path, PUBLIC_URL)).pathname,
        );
        expect(links.length).toBeGreaterThan(3);
        for (const pathname of new Set(links))
          expect([pathname, (await open(pathname)).status]).toEqual([pathname, 200]);
      }
    }
    expect(await (await open(`${PREFIX}/openapi.json`)).json()).toMatchObject({ servers: [{ url: PREFIX }] });
  });

  it('names resources and problems by addresses that are found', async () => {
    const registered = await call('POST', '/users', {
      tenantReference: `of ${strips}`,
      gridLocations: [{ ean: newEan() }],
    });
    const { gridLocations } = (await registered.json()) as { gridLocations: { id: string }[] };
    const started = await call('POST', `/onboarding/pv/${gridLocations[0]!.id}`);
    const location = started.headers.get('location')!;
    expect(location).toMatch(new RegExp(`^${PREFIX}/api/v1/onboarding/pv/`));
    expect((await call('GET', location.slice(`${PREFIX}/api/v1`.length))).status).toBe(200);
    const { type } = (await (await call('GET', '/nothing')).json()) as { type: string };
    expect(type).toBe(`${PUBLIC_URL}/problems/not_found`);
    expect((await open(type)).status).toBe(200);
    const invited = await call('POST', '/invitations', { gridLocationId: gridLocations[0]!.id });
    const { url } = (await invited.json()) as { url: string };
    expect(url.startsWith(`${PUBLIC_URL}/i/`)).toBe(true);
    const page = await open(url);
    expect(page.status).toBe(200);
    for (const [, file] of (await page.text()).matchAll(/(?:href|src)="(page[^"]+)"/g))
      expect((await open(new URL(file!, url).href)).status).toBe(200);
    const led = await open(`${url}/x`);
    expect(new URL(led.headers.get('location')!, `${url}/x`).href).toBe(url);
    expect((await open(url, { method: 'POST', headers: { origin: 'https://pv.example' } })).status).toBe(303);
    expect((await open(`${PREFIX}/i/x`, { method: 'PUT' })).headers.get('content-type')).toContain(
      'text/html',
    );
  });

  it('shows the console with its files, at every path of it, and signs in with a key', async () => {
    for (const path of ['/console', '/console/sessions/1']) {
      const page = await (await open(PREFIX + path)).text();
      expect(page).toContain(`name="path-prefix" content="${PREFIX}"`);
      const [, script = ''] = /src="([^"]+)"/.exec(page)!;
      expect((await open(new URL(script, PUBLIC_URL + path).href)).status).toBe(200);
    }
    const headers = { origin: 'https://pv.example', 'x-console': '1', 'content-type': 'application/json' };
    const session = await open(`${PREFIX}/console/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ key: service.adminKey }),
    });
    const [cookie = ''] = session.headers.getSetCookie();
    expect([session.status, cookie]).toEqual([204, expect.stringContaining(`; Path=${PREFIX}/;`)]);
    const read = await open(`${PREFIX}/api/v1/users`, {
      headers: { ...headers, cookie: cookie.split(';')[0]! },
    });
    expect(read.status).toBe(200);
  });

  it('signs in through the identity provider', async () => {
    const begun = await openByProvider(`${PREFIX}/console/sign-in`);
    const [cookie = ''] = begun.headers.getSetCookie();
    expect(cookie).toContain(`; Path=${PREFIX}/console;`);
    const callback = await signInAtProvider(begun.headers.get('location')!, 'ann');
    expect(callback.startsWith(`${URL_OF_PROVIDER}/console/callback?`)).toBe(true);
    const signedIn = await openByProvider(callback, { headers: { cookie: cookie.split(';')[0]! } });
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([302, `${URL_OF_PROVIDER}/console`]);
  });

  it('is healthy with and without the path', async () => {
    expect((await open(`${PREFIX}/health/live`)).status).toBe(200);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  });
});
