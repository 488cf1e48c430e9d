import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../../src/access/scopes.js';
import { readPage, rowsOf } from '../../docs/readme.js';
import { TestClient, type SessionAnswer, type UserAnswer } from '../../setup/client.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';

let service: TestApp;
let admin: TestClient;
let user: UserAnswer;
let session: SessionAnswer;

beforeAll(async () => {
  service = await startTestApp();
  admin = TestClient.of(service);
  user = (await register(admin)).body as unknown as UserAnswer;
  session = (await admin.start(user.gridLocations[0]!.id)).body;
});
afterAll(() => service.close());

type Act = (client: TestClient) => Promise<{ readonly status: number }>;

let eans = 871_685_930_000_000_000n;
const register = (client: TestClient) => {
  const gridLocations = [{ ean: String((eans += 10n)) }];
  return client.call('POST', '/users', { tenantReference: randomUUID(), gridLocations });
};
/** `path` is a function, because the user and the session do not exist before the tests run. */
const send =
  (method: string, path: () => string, body?: object): Act =>
  (client) =>
    client.call(method, path(), body);

const ACTS = {
  'registers a user': register,
  'starts a session': (client) => client.start(user.gridLocations[0]!.id, { brand: randomUUID() }),
  'waits for a session': send('GET', () => `/onboarding/pv/${session.id}?wait=1&from=online`),
  'reads a session': send('GET', () => `/onboarding/pv/${session.id}`),
  'sees the link of a session': async (client) => {
    const answers = await Promise.all([
      client.start(user.gridLocations[0]!.id),
      client.call<SessionAnswer>('GET', `/onboarding/pv/${session.id}`),
      client.call<SessionAnswer>('GET', `/users/${user.id}/pv/onboarding-sessions/${session.id}`),
      client.call<SessionAnswer>('POST', `/onboarding/pv/${session.id}/refresh`),
    ]);
    const list = await client.call<{ items?: SessionAnswer[] }>('GET', '/onboarding/pv');
    const links = [...answers.map(({ body }) => body), ...(list.body.items ?? [])].map(
      (each) => each.startUrl,
    );
    return { status: links.some((link) => typeof link === 'string') ? 200 : 403 };
  },
  'lists inverters': send('GET', () => '/inverters'),
  'reads the status': send('GET', () => '/status'),
  'reads a user': send('GET', () => `/users/${user.id}`),
  'lists registrations': send('GET', () => '/registrations'),
  'decides a registration': send('POST', () => `/registrations/${randomUUID()}/discard`),
  'erases a user': send('DELETE', () => `/users/${randomUUID()}`),
  'reads the feed': send('GET', () => '/events'),
  'reads the stream': async ({ url, key }) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/api/v1/events/stream`, { headers });
    await response.body?.cancel();
    return response;
  },
  'creates a webhook endpoint': send('POST', () => '/webhook-endpoints', {
    url: 'http://127.0.0.1:9/',
    types: ['session.online'],
  }),
  'creates a key': send('POST', () => '/api-keys', { name: 'x', scopes: ['users:read'] }),
  'revokes a key': send('DELETE', () => `/api-keys/${randomUUID()}`),
} satisfies Record<string, Act>;
type ActName = keyof typeof ACTS;

const ALL = Object.keys(ACTS) as ActName[];
const DOES: Record<string, readonly ActName[]> = {
  'an app': [
    'registers a user',
    'starts a session',
    'waits for a session',
    'reads a session',
    'lists inverters',
    'reads the status',
    'sees the link of a session',
  ],
  'a receiver': ['reads the feed', 'reads the stream'],
  'a dashboard': [
    'reads a user',
    'lists registrations',
    'waits for a session',
    'reads a session',
    'lists inverters',
    'reads the status',
  ],
  support: [
    'waits for a session',
    'reads a session',
    'lists inverters',
    'reads the status',
    'reads a user',
    'lists registrations',
    'decides a registration',
  ],
  'an administrator': ALL,
};

async function clientWith(scopes: readonly string[]): Promise<TestClient> {
  const { body } = await admin.call<{ key: string }>('POST', '/api-keys', { name: 'a recipe', scopes });
  return new TestClient(service.url, body.key);
}

async function allowedTo(client: TestClient): Promise<ActName[]> {
  const allowed: ActName[] = [];
  for (const name of ALL) {
    const { status } = await ACTS[name](client);
    // 404: the registration, user or key of a random id. The scope is checked before.
    expect([name, [200, 201, 204, 403, 404].includes(status), status]).toEqual([name, true, status]);
    if (status !== 403) allowed.push(name);
  }
  return allowed;
}

describe('the recipes of docs/api-keys.md', () => {
  let recipes: Map<string, Scope[]>;
  beforeAll(async () => {
    const rows = rowsOf(await readPage('docs/api-keys.md'), 'recipes');
    recipes = new Map(
      rows.map(([name = '', scopes = '']) => [
        name,
        [...scopes.matchAll(/`(.+?)`/g)].map(([, s]) => s as Scope),
      ]),
    );
  });

  it('are those tested here', () => expect([...recipes.keys()]).toEqual(Object.keys(DOES)));

  it.each(Object.keys(DOES))('for %s: allow exactly its acts, and need each scope', async (name) => {
    const scopes = recipes.get(name)!;
    const expected = ALL.filter((act) => DOES[name]!.includes(act));
    expect(await allowedTo(await clientWith(scopes))).toEqual(expected);
    for (const scope of scopes.length > 1 ? scopes : []) {
      const others = scopes.filter((other) => other !== scope);
      expect([scope, await allowedTo(await clientWith(others))]).not.toEqual([scope, expected]);
    }
  });

  it('show the link of a session to an app, and to no dashboard', async () => {
    const linkFor = async (name: string) =>
      (await (await clientWith(recipes.get(name)!)).session(session.id)).startUrl;
    expect(await linkFor('an app')).toBe(session.startUrl);
    expect(await linkFor('a dashboard')).toBeNull();
    expect(await linkFor('support')).toBeNull();
  });
});
