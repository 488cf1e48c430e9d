import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestClient, type Answer } from '../../setup/client.js';
import { useTestApp } from '../../setup/test-app.js';

const REQUESTS = 20;

const service = useTestApp({ ROLE: 'api', LOG_LEVEL: 'error' });
let database: Database;

beforeAll(() => {
  database = service.app.get(Database);
});

const post = (path: string, body: object, idempotencyKey: string | undefined, apiKey = service.adminKey) =>
  new TestClient(service.url, apiKey).call(
    'POST',
    path,
    body,
    idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  );

const countOf = async (table: string): Promise<number> =>
  (await database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`))[0]!.count;

const ENDPOINT = { url: 'http://127.0.0.1:4020/webhooks', headers: { 'X-Tenant': 'a' }, description: 'app' };

describe.each([
  {
    path: '/webhook-endpoints',
    table: 'webhook_endpoints',
    secret: 'secret',
    request: ENDPOINT,
    reordered: { description: 'app', headers: { 'X-Tenant': 'a' }, url: ENDPOINT.url },
    other: { ...ENDPOINT, headers: { 'X-Tenant': 'b' } },
  },
  {
    path: '/api-keys',
    table: 'api_keys',
    secret: 'key',
    request: { name: 'an app', scopes: ['admin'] },
    reordered: { scopes: ['admin'], name: 'an app' },
    other: { name: 'an app', scopes: ['users:read'] },
  },
])('POST $path with an Idempotency-Key', ({ path, table, secret, request, reordered, other }) => {
  const created = async (work: () => Promise<unknown>): Promise<number> => {
    const before = await countOf(table);
    await work();
    return (await countOf(table)) - before;
  };

  it('creates one, however often it is repeated, and returns the same response', async () => {
    const key = randomUUID();
    const responses: Answer[] = [];
    const count = await created(async () => {
      for (const body of [request, request, reordered]) responses.push(await post(path, body, key));
    });
    expect(count).toBe(1);
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses[0]!.body[secret]).toEqual(expect.any(String));
  });

  it('creates one for concurrent requests, and returns the same response to all', async () => {
    const key = randomUUID();
    let responses: Answer[] = [];
    const count = await created(async () => {
      responses = await Promise.all(Array.from({ length: REQUESTS }, () => post(path, request, key)));
    });
    expect(count).toBe(1);
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]!.status).toBe(201);
  });

  it('refuses another body, and still returns the first response', async () => {
    const key = randomUUID();
    const first = await post(path, request, key);
    expect(await created(() => post(path, other, key))).toBe(0);
    expect(await post(path, other, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    expect((await post(path, request, key)).text).toBe(first.text);
  });

  it('stores nothing of a request that failed', async () => {
    const key = randomUUID();
    expect((await post(path, {}, key)).status).toBe(400);
    expect((await post(path, request, key)).status).toBe(201);
  });

  it('creates nothing when its response cannot be stored', async () => {
    const cipher = service.app.get(Cipher);
    const encrypt = cipher.encrypt.bind(cipher);
    const spy = jest.spyOn(cipher, 'encrypt').mockImplementation((text, context) => {
      if (context.startsWith('idempotency_keys/')) throw new Error('the process dies');
      return encrypt(text, context);
    });
    const key = randomUUID();
    try {
      const count = await created(async () => {
        expect((await post(path, request, key)).status).toBe(500);
      });
      expect(count).toBe(0);
    } finally {
      spy.mockRestore();
    }
    expect((await post(path, request, key)).status).toBe(201);
  });

  it('stores neither the secret nor the key in the clear', async () => {
    const key = `order-${randomUUID()}`;
    const { body } = await post(path, request, key);
    const rows = await database.query<{ row: string; bytes: Buffer }>(
      'SELECT idempotency_keys::text AS row, response_ciphertext AS bytes FROM idempotency_keys',
    );
    const dump = rows.map(({ row, bytes }) => row + bytes.toString('latin1')).join('\n');
    for (const text of [body[secret] as string, body['id'] as string, key]) expect(dump).not.toContain(text);
  });
});

describe('an Idempotency-Key', () => {
  const request = { name: 'an app', scopes: ['users:read'] };

  it.each([
    ['is empty', ''],
    ['has a blank', 'a b'],
    ['is not ASCII', 'cl\u00e9'],
    ['has 256 characters', 'k'.repeat(256)],
  ])('that %s is refused by name', async (_, key) => {
    const { status, body } = await post('/api-keys', request, key);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ field: 'Idempotency-Key' }] });
  });
});
