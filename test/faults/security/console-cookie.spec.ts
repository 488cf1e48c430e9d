import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsoleSessions } from '../../../src/console-access/console-sessions.service.js';
import { SESSION_MS } from '../../../src/console-access/console-session.rules.js';
import { ConsoleBrowser, createKey } from '../../e2e/console/console-client.js';
import { TestClient } from '../../setup/client.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { inTime, itAtLength, promise } from '../support/promise.js';
import { startReplica, withReplica } from '../../e2e/replica.js';

const REVOKED_WITHIN_MS = 5_000;
const UNKNOWN_ID = '3f0c6a5e-1111-4222-8333-444455556666';

const service = useTestApp();
let other: TestApp;
let stolen: ConsoleBrowser;

beforeAll(async () => {
  other = await startReplica(service);
  stolen = new ConsoleBrowser(service);
  await stolen.signIn(service.adminKey);
});
afterAll(() => other.close());

/** The headers that a page of another origin can make a browser send with the cookie, if the browser sends the cookie at all. */
const FOREIGN: readonly Readonly<Record<string, string | undefined>>[] = [
  { origin: 'https://evil.example' },
  { origin: 'https://evil.example', 'x-console': undefined },
  { origin: 'null' },
  { origin: undefined, 'x-console': undefined },
  { 'x-console': undefined },
];

async function changes(): Promise<{ method: string; path: string }[]> {
  const text = await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
      .map((method) => ({ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, UNKNOWN_ID) })),
  );
}

/** Returns how many of the changes the service let through to a page of another origin. */
async function letThrough(browser: ConsoleBrowser): Promise<{ passed: number; sent: number }> {
  let passed = 0;
  let sent = 0;
  for (const { method, path } of await changes()) {
    for (const headers of FOREIGN) {
      const response = await browser.send(method, path, undefined, headers);
      if (((await response.json()) as { code: string }).code !== 'not_from_console') passed++;
      sent++;
    }
  }
  return { passed, sent };
}

describe('R53: a stolen cookie of the console is useless', () => {
  it('to a page of another origin: no operation of the API that changes something takes it', async () => {
    const { passed, sent } = await letThrough(stolen);
    promise('R53', { figure: `${passed} of ${sent} changes from another origin`, bound: '0' });
    expect(sent).toBeGreaterThan(100);
    expect(passed).toBe(0);
    const read = await stolen.send('GET', '/api/v1/users', undefined, { origin: 'https://evil.example' });
    expect(read.status).toBe(403);
    // No header allows a page of another origin to read a response.
    const headers = [...(await stolen.send('GET', '/api/v1/users')).headers.keys()];
    expect(headers.filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  it('once its key is revoked, at every replica, within 5 seconds', async () => {
    const { id, key } = await createKey(service, 'admin');
    const thieves = [service, other].map((replica) => new ConsoleBrowser(replica));
    await thieves[0]!.signIn(key);
    thieves[1]!.cookie = thieves[0]!.cookie;
    const statuses = () =>
      Promise.all(thieves.map(async (thief) => (await thief.send('GET', '/api/v1/users')).status));
    expect(await statuses()).toEqual([200, 200]);
    const stream = await thieves[1]!.send('GET', '/api/v1/events/stream');
    await TestClient.of(service).call('DELETE', `/api-keys/${id}`);
    const revokedAt = performance.now();
    await waitFor('every replica refuses it', async () =>
      (await statuses()).every((status) => status === 401),
    );
    const tookMs = performance.now() - revokedAt;
    promise('R53', {
      figure: `taken for ${Math.round(tookMs)} ms after its key was revoked, by 2 replicas`,
      bound: `${REVOKED_WITHIN_MS} ms`,
    });
    expect(tookMs).toBeLessThan(inTime(REVOKED_WITHIN_MS));
    // Resolves when the service ends the stream, because the key is revoked.
    await stream.text();
  });

  it('after 12 hours', async () => {
    const sessions = service.app.get(ConsoleSessions);
    const find = (now: number) => sessions.find({ headers: { cookie: stolen.cookie } }, now);
    const session = find(Date.now())!;
    expect(SESSION_MS).toBe(12 * 3_600_000);
    expect(find(session.expiresAt - 1)).not.toBeNull();
    expect(find(session.expiresAt)).toBeNull();
    const old = new ConsoleBrowser(service);
    old.cookie = `pvo_console=${sessions.cookie.seal({ ...session, expiresAt: Date.now() - 1 })}`;
    expect((await old.send('GET', '/api/v1/users')).status).toBe(401);
  });

  itAtLength('turns red when the origin is not checked', async () => {
    await withReplica(service, {}, async (careless) => {
      careless.app.get(ConsoleSessions).requireOwnPage = () => undefined;
      const browser = new ConsoleBrowser(careless);
      browser.cookie = stolen.cookie;
      expect((await letThrough(browser)).passed).toBeGreaterThan(100);
    });
  });
});
