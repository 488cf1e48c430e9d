import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { newApiKey } from '../../../src/access/api-keys.store.js';
import { ConsoleFiles } from '../../../src/console-access/console-files.service.js';
import { ConsoleSessions } from '../../../src/console-access/console-sessions.service.js';
import { SESSION_MS } from '../../../src/console-access/console-session.rules.js';
import { RateLimit } from '../../../src/access/rate-limit.js';
import { useFolder } from '../../setup/folder.js';
import { TestClient } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { startReplica, withReplica } from '../replica.js';
import { ConsoleBrowser, createKey } from './console-client.js';

const FAILURES_A_MINUTE = 30;
const KEYS = '/api/v1/api-keys';
const INDEX = '<!doctype html><script type="module" src="/console/assets/index-4f2a.js"></script>';
const SCRIPT = 'console.log("the console");'.repeat(100);
const SECRET = 'not for browsers';

const folder = useFolder();
let service: TestApp;
/** Its console is not built, browsers reach it below PUBLIC_URL, and a key may make one request a second. */
let other: TestApp;

const servesFrom = (from: string) => ({
  prepare: (app: TestApp['app']) => void Object.assign(app.get(ConsoleFiles), { folder: from }),
});

beforeAll(async () => {
  const built = join(folder, 'console');
  await mkdir(join(built, 'assets'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), SECRET);
  await writeFile(join(built, 'index.html'), INDEX);
  await writeFile(join(built, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(built, 'assets/index-4f2a.js'), SCRIPT);
  service = await startTestApp({ ROLE: 'api', TRUSTED_PROXIES: ['127.0.0.1'] }, servesFrom(built));
  const settings = { PUBLIC_URL: 'https://pv.example', API_MAX_REQUESTS_PER_SECOND: 1 };
  other = await startReplica(service, { ROLE: 'api', ...settings }, servesFrom(join(folder, 'nothing')));
});
afterAll(async () => {
  await other.close();
  await service.close();
});

async function signedIn(key = service.adminKey): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(service);
  expect((await browser.signIn(key)).status).toBe(204);
  return browser;
}

const codeOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { code: string }).code,
];

describe('signing in with a key', () => {
  it('sets a cookie that no script and no other site can use, and that does not contain the key', async () => {
    const browser = new ConsoleBrowser(service);
    const response = await browser.signIn(service.adminKey);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie.replace(/=[\w-]{80,};/, '=sealed;')).toBe(
      'pvo_console=sealed; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict',
    );
    expect(Buffer.from(cookie.split(/[=;]/)[1]!, 'base64url').toString('latin1')).not.toContain(
      service.adminKey,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('sets a cookie for TLS alone unless browsers reach us on the loopback', async () => {
    const behindProxy = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'pv.example',
      origin: 'https://pv.example',
    };
    const signIn = { key: service.adminKey };
    const response = await new ConsoleBrowser(service).send('POST', '/console/session', signIn, behindProxy);
    expect(response.headers.getSetCookie()[0]).toMatch(/; Secure$/);
    const secure = await new ConsoleBrowser(other).signIn(service.adminKey);
    expect(secure.headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
  });

  it('shows who signed in, until when, and with which scopes', async () => {
    const { id, key } = await createKey(service, 'users:read', 'events:read');
    const before = Date.now();
    const browser = await signedIn(key);
    const response = await browser.send('GET', '/console/session');
    const body = (await response.json()) as { expiresAt: string };
    expect(body).toEqual({
      actor: `console:key:${id}`,
      name: 'The night shift',
      scopes: ['users:read', 'events:read'],
      expiresAt: expect.any(String),
      signIn: 'key',
    });
    expect(Date.parse(body.expiresAt)).toBeGreaterThanOrEqual(before + SESSION_MS);
    expect(Date.parse(body.expiresAt)).toBeLessThanOrEqual(Date.now() + SESSION_MS);
  });

  it('is refused with 401 for a wrong key, and sets no cookie', async () => {
    for (const key of ['', 'nonsense', newApiKey()]) {
      const response = await new ConsoleBrowser(service).signIn(key);
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await codeOf(response)).toEqual([401, 'unauthenticated']);
    }
    const nothing = await new ConsoleBrowser(service).send('GET', '/console/session');
    expect(nothing.status).toBe(401);
    expect(await nothing.json()).toMatchObject({ code: 'unauthenticated', signIn: 'key' });
  });

  it.each([[{}], [{ key: 7 }], [{ key: 'x'.repeat(1_001) }], [{ key: 'x', name: 'y' }]])(
    'is refused with 400 for %j',
    async (body) => {
      const response = await new ConsoleBrowser(service).send('POST', '/console/session', body);
      expect(await codeOf(response)).toEqual([400, 'invalid_request']);
    },
  );

  it('is refused from a page of another origin', async () => {
    const response = await new ConsoleBrowser(service).send(
      'POST',
      '/console/session',
      { key: service.adminKey },
      { origin: 'https://evil.example' },
    );
    expect(await codeOf(response)).toEqual([403, 'not_from_console']);
  });

  it('is recorded in the audit log', async () => {
    const { id, key } = await createKey(service, 'users:read');
    await signedIn(key);
    const entries = await service.database.query(
      'SELECT actor FROM audit_log WHERE action = $1 AND actor = $2',
      ['console.signed_in', `console:key:${id}`],
    );
    expect(entries).toHaveLength(1);
  });
});

/**
 * The clock of the rate limits in the tests that stop it. Only these tests use their addresses and keys, because the other tests have
 * another clock.
 */
let now = 0;

function stopClockOfLimits(): void {
  const { take } = RateLimit.prototype;
  jest.spyOn(RateLimit.prototype, 'take').mockImplementation(function (this: RateLimit, subject) {
    return take.call(this, subject, now);
  });
}

afterEach(() => void jest.restoreAllMocks());

describe('a header that nobody can read', () => {
  const HOST = ['', 'a b', 'a/b', 'a@b', 'a:b', '[', '[::1', 'x:99999', '%', '<', 'é', ':80'];
  const HEADERS: [string, readonly string[]][] = [
    ['host', HOST],
    ['x-forwarded-host', HOST],
    ['x-forwarded-proto', ['', 'a b', ':', 'javascript', 'https:, ://']],
    ['x-forwarded-for', ['', 'nobody', '[', '::ffff', ',,,']],
    ['forwarded', ['host=[', ';;', 'for="']],
    ['origin', ['', 'null', 'http://[', '://']],
    ['referer', ['', 'http://[', '%']],
    [
      'cookie',
      ['', '=', 'pvo_console', 'pvo_console=%', 'pvo_console=;;=', `pvo_console=${'A'.repeat(200)}`],
    ],
    ['accept-language', ['', ';q=', ',;,', 'en;q=x;q=y', '*']],
    ['accept-encoding', ['', ';', 'gzip;q=x']],
    ['traceparent', ['', '00-', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`]],
    [
      'content-type',
      ['', ';', 'application/json; charset', 'application/json; charset="', 'multipart/form-data'],
    ],
    ['range', ['', 'bytes=', 'bytes=9-1', 'x=0-1']],
    ['if-none-match', ['', '"', 'W/']],
    ['x-request-id', ['', 'é']],
    ['authorization', ['', 'Bearer', 'Bearer é', 'Basic %']],
    ['idempotency-key', ['', 'é']],
    ['last-event-id', ['é', '-']],
  ];
  const PATHS = [
    'POST /console/session',
    'GET /console',
    'GET /console/session',
    'GET /console/callback',
    'GET /i/x',
  ];
  const OTHERS = [
    'POST /api/v1/api-keys',
    'POST /api/v1/campaigns',
    'GET /api/v1/events/stream',
    'GET /docs',
  ];

  /** Returns the status line of the response. */
  const statusOf = (line: string, headers: object, version = '1.1') =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(service.url);
      const [method, target] = line.split(' ');
      const body = method === 'POST' ? JSON.stringify({ key: service.adminKey }) : '';
      const all = { host: 'x', connection: 'close', 'content-type': 'application/json', ...headers };
      const fields = Object.entries({ 'content-length': body.length, ...all })
        .filter(([, value]) => value !== undefined)
        .map((pair) => pair.join(': '));
      const socket = connect(Number(port), hostname, () =>
        socket.write([`${method} ${target} HTTP/${version}`, ...fields, '', body].join('\r\n'), 'latin1'),
      );
      socket.once('data', (bytes) => resolve(bytes.toString().slice(9, 12))).on('error', reject);
      socket.once('data', () => socket.destroy());
    });

  it.each(HEADERS)('is no 5xx: %s', async (name, values) => {
    for (const value of values) {
      const authorization = `Bearer ${service.adminKey}`;
      const statuses = await Promise.all([
        ...PATHS.map((path) => statusOf(path, { [name]: value })),
        ...OTHERS.map((path) => statusOf(path, { authorization, [name]: value })),
      ]);
      expect([value, statuses.filter((status) => status >= '500')]).toEqual([value, []]);
      const isRefused = name === 'host' || (HOST === values && value !== '');
      if (isRefused) expect([value, ...new Set(statuses)]).toEqual([value, '400']);
    }
  });

  it.each(['http://[/console/callback?code=x', 'http://x:99999/console/session'])(
    'is no 5xx as a target in absolute form: %s',
    async (target) => expect((await statusOf(`GET ${target}`, {})) < '500').toBe(true),
  );

  it('may be absent in HTTP/1.0', async () =>
    expect(await statusOf('POST /console/session', { host: undefined }, '1.0')).toBe('204'));
});

describe('failed sign-ins from one address', () => {
  it('are refused after 30 in a minute, which stops no key that is known', async () => {
    stopClockOfLimits();
    const from = { 'x-forwarded-for': '2001:db8:7::1' };
    const { key } = await createKey(service, 'users:read');
    const attempt = (given: string) =>
      new ConsoleBrowser(service).send('POST', '/console/session', { key: given }, from);
    expect((await attempt(key)).status).toBe(204);
    for (let nth = 1; nth <= FAILURES_A_MINUTE; nth++)
      expect((await attempt(nth % 2 === 0 ? newApiKey() : 'nonsense')).status).toBe(401);
    const refused = await attempt(newApiKey());
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await codeOf(refused)).toEqual([429, 'too_many_requests']);
    expect((await attempt('nonsense')).status).toBe(429);
    expect((await attempt(key)).status).toBe(204);
    expect((await attempt(service.adminKey)).status).toBe(204);
    now += 2_000;
    expect((await attempt(newApiKey())).status).toBe(401);
  });
});

describe('a request with the cookie', () => {
  it('has the scopes of the key', async () => {
    const { key } = await createKey(service, 'users:read');
    const browser = await signedIn(key);
    expect((await browser.send('GET', '/api/v1/users')).status).toBe(200);
    expect(await codeOf(await browser.send('GET', '/api/v1/events'))).toEqual([403, 'forbidden']);
    expect(await codeOf(await browser.send('POST', KEYS, { name: 'x', scopes: ['admin'] }))).toEqual([
      403,
      'forbidden',
    ]);
  });

  it('reads without an origin, as a browser does, but not from a page of another origin', async () => {
    const browser = await signedIn();
    const plain = { origin: undefined, 'x-console': undefined };
    expect((await browser.send('GET', KEYS, undefined, plain)).status).toBe(200);
    const foreign = { origin: 'https://evil.example' };
    expect(await codeOf(await browser.send('GET', KEYS, undefined, foreign))).toEqual([
      403,
      'not_from_console',
    ]);
  });

  it('changes what the key may change, and the audit log says that it was the console', async () => {
    const admin = await createKey(service, 'admin');
    const browser = await signedIn(admin.key);
    const response = await browser.send('POST', KEYS, { name: 'made by hand', scopes: ['users:read'] });
    expect(response.status).toBe(201);
    const { id } = (await response.json()) as { id: string };
    const [entry] = await service.database.query('SELECT actor, action FROM audit_log WHERE target = $1', [
      id,
    ]);
    expect(entry).toEqual({ actor: `console:key:${admin.id}`, action: 'api_key.created' });
  });

  it('counts for nothing beside a key', async () => {
    const browser = await signedIn();
    const { key } = await createKey(service, 'users:read');
    const withKey = { authorization: `Bearer ${key}` };
    expect((await browser.send('GET', KEYS, undefined, withKey)).status).toBe(403);
    const wrong = { authorization: 'Bearer nonsense' };
    expect((await browser.send('GET', KEYS, undefined, wrong)).status).toBe(401);
  });

  it('is refused if a byte of the cookie differs', async () => {
    const browser = await signedIn();
    const { cookie } = browser;
    for (const at of [13, 40, 80, cookie.length - 3]) {
      browser.cookie = `${cookie.slice(0, at)}${cookie[at] === 'A' ? 'B' : 'A'}${cookie.slice(at + 1)}`;
      expect((await browser.send('GET', KEYS)).status).toBe(401);
    }
    for (const other of ['pvo_console=', 'pvo_console=x', `other=${cookie.slice(12)}`]) {
      browser.cookie = other;
      expect((await browser.send('GET', KEYS)).status).toBe(401);
    }
  });

  it('is limited like the key', async () => {
    const browser = new ConsoleBrowser(other);
    const { key } = await createKey(service, 'users:read');
    await browser.signIn(key);
    stopClockOfLimits();
    const send = () => browser.send('GET', '/api/v1/users');
    for (let nth = 1; nth <= 10; nth++) expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(429);
    expect((await new TestClient(other.url, key).call('GET', '/users')).status).toBe(429);
  });
});

describe('a session', () => {
  const find = (cookie: string, now: number) =>
    service.app.get(ConsoleSessions).find({ headers: { cookie } }, now);

  it('that is over is refused by the API, and ends its stream', async () => {
    const browser = await signedIn();
    const session = find(browser.cookie, Date.now())!;
    const seal = (expiresAt: number) =>
      `pvo_console=${service.app.get(ConsoleSessions).cookie.seal({ ...session, expiresAt })}`;
    browser.cookie = seal(Date.now() - 1);
    expect((await browser.send('GET', KEYS)).status).toBe(401);
    expect((await browser.send('GET', '/console/session')).status).toBe(401);
    // On a busy machine, the session may be over before the stream begins.
    for (let ms = 500, status = 401; status !== 200; ms *= 4) {
      browser.cookie = seal(Date.now() + ms);
      const stream = await browser.send('GET', '/api/v1/events/stream');
      ({ status } = stream);
      // Resolves when the service ends the stream, because the session is over.
      await stream.text();
    }
  });

  it('ends in the browser when the user signs out, but not from a page of another origin', async () => {
    const browser = await signedIn();
    const foreign = { origin: 'https://evil.example' };
    expect((await browser.send('DELETE', '/console/session', undefined, foreign)).status).toBe(403);
    expect((await browser.send('GET', KEYS)).status).toBe(200);
    const response = await browser.send('DELETE', '/console/session');
    expect(response.status).toBe(204);
    expect(response.headers.getSetCookie()).toEqual([
      'pvo_console=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    ]);
    expect((await browser.send('GET', KEYS)).status).toBe(401);
  });

  it('does not survive a change of the administrator’s key or of the encryption key', async () => {
    const { cookie } = await signedIn();
    const changes = [
      { ADMIN_API_KEY: 'another-key-of-the-administrator-0001' },
      { ENCRYPTION_KEYS: [Buffer.alloc(32, 'another key').toString('base64')] },
    ];
    for (const change of changes) {
      await withReplica(service, { ROLE: 'api', ...change }, async (changed) => {
        const browser = new ConsoleBrowser(changed);
        browser.cookie = cookie;
        expect([change, (await browser.send('GET', KEYS)).status]).toEqual([change, 401]);
      });
    }
  });
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
          "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
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
      'content-security-policy': expect.stringContaining(
        "default-src 'none'; script-src 'self'; worker-src 'self'",
      ),
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
    expect(await (await fetch(`${other.url}/console`)).text()).toContain('npm run build');
  });

  it.each([
    ['it is switched off', { ROLE: 'api', CONSOLE: false }, 401],
    ['the process is a worker', { ROLE: 'worker' }, 404],
  ] as const)('is not there if %s, nor is a session', async (_what, settings, status) => {
    const browser = await signedIn();
    await withReplica(service, settings, async (without) => {
      for (const path of [
        '/console',
        '/console/sessions',
        '/console/session',
        '/console/assets/index-4f2a.js',
      ])
        expect([path, (await fetch(`${without.url}${path}`)).status]).toEqual([path, 404]);
      const signIn = await fetch(`${without.url}/console/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key: without.adminKey }),
      });
      expect(signIn.status).toBe(404);
      expect((await fetch(without.url + KEYS, { headers: { cookie: browser.cookie } })).status).toBe(status);
    });
  });
});
