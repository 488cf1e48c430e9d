import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module, Param, Post } from '@nestjs/common';
import { ActiveCallers } from '../../../src/access/active-callers.service.js';
import { actAs, requireActing, requireOneActing, type Caller } from '../../../src/access/acting-caller.js';
import { ApiKeysStore } from '../../../src/access/api-keys.store.js';
import { Authentication } from '../../../src/access/authentication.service.js';
import { Operation } from '../../../src/access/operation.decorator.js';
import { SCOPES, type Scope } from '../../../src/access/scopes.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { ParseUuid } from '../../../src/platform/http/parameters.js';
import { Public } from '../../../src/platform/http/public.decorator.js';
import { upload } from '../../campaigns/campaign-client.js';
import { dumpTables, findSecrets } from '../../faults/support/input/secret-search.js';
import { inTime, itAtLength, promise } from '../../faults/support/promise.js';
import { TestClient, type Answer } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { useTestApp, type TestApp } from '../../setup/test-app.js';
import { waitFor } from '../../setup/wait-for.js';
import { createKey } from '../keys.js';
import { startReplica, withReplica } from '../replica.js';

const UNKNOWN_ID = '3f0c6a5e-1111-4222-8333-444455556666';
const REVOKED_WITHIN_MS = 5_000;
const REQUESTS = 20;

// Starts no worker, because a worker would deliver events to the webhook endpoints.
const service = useTestApp({ ROLE: 'api' });
const admin = TestClient.of(service);

const listKeys = async (client: TestClient) => (await client.call('GET', '/api-keys')).status;
const revoke = (id: string) => admin.call('DELETE', `/api-keys/${id}`);

describe('work that several callers share', () => {
  it('may be done while one of them may act', async () => {
    const keys = await Promise.all([createKey(admin, 'users:read'), createKey(admin, 'users:read')]);
    const callers = keys.map(({ id }) => ({ id }));
    const mayAct = () => requireOneActing(service.database, callers);
    await revoke(keys[0].id);
    await mayAct();
    await revoke(keys[1].id);
    await expect(mayAct()).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

it('a long request ends with the session of the console, and no other does', async () => {
  const callers = service.app.get(ActiveCallers);
  const [open, over] = [60_000, -1].map((ms) => ({ id: null, consoleUntil: Date.now() + ms }));
  await callers.require(open!);
  const { database } = service;
  await requireOneActing(database, [over, open]);
  const acting = (caller: Caller) =>
    new Promise((resolve, reject) => actAs(caller, () => void requireActing(database).then(resolve, reject)));
  await acting(open!);
  const requirements = [
    () => callers.require(over!),
    () => requireOneActing(database, [over]),
    () => acting(over!),
  ];
  for (const required of requirements)
    await expect(required()).rejects.toThrow('The session of the console is over');
  const ended: unknown[] = [];
  const unwatch = callers.watch(open!, () => ended.push(open));
  callers.watch(over!, () => ended.push(over));
  await waitFor('an end', () => ended.length > 0);
  expect(ended).toEqual([over]);
  unwatch();
});

describe('API keys', () => {
  it('are created, used, listed without the key, and revoked', async () => {
    const input = { name: 'An app', scopes: ['admin', 'users:read'] };
    const { status, body: created } = await admin.call<{ id: string; key: string }>(
      'POST',
      '/api-keys',
      input,
    );
    const { id, key } = created;
    const shown = { object: 'api_key', id, ...input, createdAt: expect.any(String) };
    expect([status, created]).toEqual([201, { ...shown, key: expect.stringMatching(/^pvo_[\w-]{43}$/) }]);
    const other = await createKey(admin, 'users:read');
    const newest = async () => {
      const { text, body } = await admin.call<{ items: object[] }>('GET', '/api-keys?limit=2');
      expect(text).not.toContain('pvo_');
      return body.items;
    };
    const refused = { refused401: 0, refused403: 0, refused429: 0, lastRefusedAt: null };
    const listed = { ...shown, ...refused, createdBy: 'environment', lastUsedAt: null, revokedAt: null };
    const ofOther = { ...listed, id: other.id, name: expect.any(String), scopes: ['users:read'] };
    expect(await newest()).toEqual([ofOther, listed]);
    expect(await listKeys(new TestClient(service.url, key))).toBe(200);
    const lastUsedAt = await waitFor('the use to be noted', async () => {
      const [, one] = (await newest()) as { lastUsedAt: string | null }[];
      return one!.lastUsedAt;
    });
    await service.app.get(ApiKeysStore).noteUse(id);
    expect(await newest()).toEqual([ofOther, { ...listed, lastUsedAt }]);
    expect((await revoke(id)).status).toBe(204);
    const revoked = await newest();
    expect(revoked).toEqual([ofOther, { ...listed, lastUsedAt, revokedAt: expect.any(String) }]);
    expect((await revoke(id)).status).toBe(204);
    expect(await newest()).toEqual(revoked);
    const audited = await admin.list<{ action: string }>(`/audit-log?targets=${id}`);
    expect(audited.map(({ action }) => action)).toEqual(['api_key.revoked', 'api_key.created']);
  });
});

describe('every route', () => {
  interface Operation {
    readonly operationId: string;
    readonly 'x-required-scope'?: string;
  }

  async function scopedRoutes(): Promise<{ method: string; path: string; scope: string }[]> {
    const document = JSON.parse(
      await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8'),
    ) as {
      paths: Record<string, Record<string, Operation>>;
    };
    return Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => {
        const scope = operation['x-required-scope'];
        return scope === undefined
          ? []
          : [{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, UNKNOWN_ID), scope }];
      }),
    );
  }

  it('refuses a request without a key, and a key without its scope; accepts its scope and admin', async () => {
    const routes = await scopedRoutes();
    const keys = new Map<string, string>();
    for (const scopes of [...SCOPES, ...routes.flatMap(({ scope }) => scope.split(' | '))])
      if (!keys.has(scopes))
        keys.set(scopes, (await createKey(admin, ...(scopes.split(' ') as Scope[]))).key);
    expect(routes.length).toBeGreaterThan(2);
    for (const { method, path, scope } of routes) {
      const statusWith = async (key: string) => {
        const headers = { authorization: `Bearer ${key}` };
        const response = await fetch(service.url + path, { method, headers });
        // The body of an event stream never ends.
        const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
        await (isStream ? response.body?.cancel() : response.text());
        const scheme = response.status === 401 ? 'Bearer realm="pv-onboarding"' : null;
        expect(response.headers.get('www-authenticate')).toBe(scheme);
        return response.status;
      };
      const sufficient = scope.split(' | ');
      const others = SCOPES.filter((other) => !sufficient.includes(other) && other !== 'admin');
      const said = `${method} ${path}`;
      expect([said, await statusWith('')]).toEqual([said, 401]);
      const refusals = await Promise.all(others.map((other) => statusWith(keys.get(other)!)));
      expect([said, ...refusals]).toEqual([said, ...others.map(() => 403)]);
      for (const allowed of [...sufficient, 'admin']) {
        expect([200, 201, 202, 204, 400, 404, 409, 422, 503]).toContain(await statusWith(keys.get(allowed)!));
      }
    }
  });

  it('refuses a key without the scope before it reads the body', async () => {
    const { app } = await createKey(admin, 'users:read');
    const body = { tenantReference: 'x'.repeat(2_000_000) };
    expect((await app.call('POST', '/users', body)).status).toBe(403);
  });

  it('is refused at boot if it neither declares a scope nor is public', async () => {
    @Controller('undecided')
    class UndecidedController {
      @Get()
      @Public()
      open(): void {}

      @Post()
      forgotten(): void {}
    }
    @Module({ controllers: [UndecidedController] })
    class UndecidedModule {}
    await expect(startReplica(service, {}, { modules: [UndecidedModule] })).rejects.toThrow(
      'POST /api/v1/undecided needs @Operation() or @Public()',
    );
  });
});

it('an operation that will end says so in its responses, also in that of an error and in a repeated one', async () => {
  const page = 'https://pv.example/docs/api';
  const deprecated = { since: new Date('2027-01-01'), sunset: new Date('2027-07-01'), page };
  @Controller('ending')
  class EndingController {
    @Post(':id')
    @Operation('users:read', { summary: 'Ends', description: 'For this test.', deprecated })
    createEnding(@Param('id', ParseUuid) id: string): object {
      return { id, at: performance.now() };
    }
  }
  @Module({ controllers: [EndingController] })
  class EndingModule {}
  const check = async ({ url, adminKey }: TestApp) => {
    const send = async (id: string, key = adminKey) => {
      const headers = { 'idempotency-key': 'one', authorization: `Bearer ${key}` };
      const response = await fetch(`${url}/api/v1/ending/${id}`, { method: 'POST', headers });
      expect(response.headers.get('deprecation')).toBe('@1798761600');
      expect(response.headers.get('sunset')).toBe('Thu, 01 Jul 2027 00:00:00 GMT');
      expect(response.headers.get('link')).toBe(`<${page}>; rel="deprecation"; type="text/html"`);
      return [response.status, await response.text()] as const;
    };
    const [status, text] = await send(UNKNOWN_ID);
    expect(status).toBe(201);
    expect(await send(UNKNOWN_ID)).toEqual([status, text]);
    expect((await send('none'))[0]).toBe(400);
    expect((await send(UNKNOWN_ID, 'unknown'))[0]).toBe(401);
  };
  await withReplica(service, { ROLE: 'api' }, check, { modules: [EndingModule] });
});

describe('R35: keys are safe', () => {
  /** Revokes a key. Returns how many milliseconds after the revocation a replica last accepted the key. */
  async function msUntilRefused(replicas: readonly TestApp[]): Promise<number> {
    const { id, key } = await createKey(admin, 'admin');
    const isTaken = async ({ url }: TestApp) => (await listKeys(new TestClient(url, key))) === 200;
    expect(await Promise.all(replicas.map(isTaken))).toEqual(replicas.map(() => true));
    await revoke(id);
    const revokedAt = performance.now();
    let lastTakenMs = 0;
    while (lastTakenMs <= REVOKED_WITHIN_MS) {
      const sentAt = performance.now();
      const taken = await Promise.all(replicas.map(isTaken));
      if (!taken.includes(true)) break;
      lastTakenMs = sentAt - revokedAt;
      await sleep(100);
    }
    return lastTakenMs;
  }

  it('a revoked key is refused by every replica within 5 seconds', async () => {
    const tookMs = await withReplica(service, {}, (other) => msUntilRefused([service, other]));
    promise('R35', {
      figure: `taken for ${Math.round(tookMs)} ms after it was revoked, by 2 replicas`,
      bound: `${REVOKED_WITHIN_MS} ms`,
    });
    expect(tookMs).toBeLessThan(inTime(REVOKED_WITHIN_MS));
  });

  it('a revoked key is refused at once by the replica that revoked it', async () => {
    const { id, app } = await createKey(admin, 'admin');
    expect(await listKeys(app)).toBe(200);
    await revoke(id);
    expect(await listKeys(app)).toBe(401);
  });

  it('a long request ends when its key is revoked, by the API or by deleting its row', async () => {
    const keys = await Promise.all([0, 1, 2].map(() => createKey(admin, 'admin')));
    const ended: string[] = [];
    const unwatch = keys.map(({ id }) => service.app.get(ActiveCallers).watch({ id }, () => ended.push(id)));
    const [revoked, deleted] = keys.map(({ id }) => id);
    await revoke(revoked!);
    await service.database.query('DELETE FROM api_keys WHERE id = $1', [deleted]);
    await waitFor('the ends', () => ended.length === 2);
    expect(ended.toSorted()).toEqual([revoked, deleted].toSorted());
    for (const end of unwatch) end();
  });

  itAtLength('turns red when a replica caches keys for ever', async () => {
    await withReplica(service, {}, async (forgetful) => {
      const authentication = forgetful.app.get(Authentication);
      const authenticate = authentication.authenticate.bind(authentication);
      authentication.authenticate = (key) => authenticate(key, 0);
      expect(await msUntilRefused([service, forgetful])).toBeGreaterThan(REVOKED_WITHIN_MS);
    });
  });

  it('no key is in the database in any encoding, neither whole nor its random part', async () => {
    const { id, key, app } = await createKey(admin, 'admin');
    await listKeys(app);
    const tables = await dumpTables(service.environment.DATABASE_URL);
    expect(tables.get('table public.api_keys')).toContain(id);
    const found = findSecrets({ key, random: key.slice(4), admin: service.adminKey }, tables);
    promise('R35', { figure: `${found.length} keys in the clear in the database`, bound: '0' });
    expect(found).toEqual([]);
  });

  itAtLength('turns red when a key is stored in the clear', async () => {
    const { id, key } = await createKey(admin, 'admin');
    await service.database.query('UPDATE api_keys SET name = $2 WHERE id = $1', [id, key]);
    expect(findSecrets({ key }, await dumpTables(service.environment.DATABASE_URL))).not.toEqual([]);
  });
});

const post = (path: string, body: object, idempotencyKey: string) =>
  admin.call('POST', path, body, { 'idempotency-key': idempotencyKey });

const countOf = async (table: string): Promise<number> =>
  (await service.database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`))[0]!.count;

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
    const { app } = await createKey(admin, 'admin');
    expect((await app.call('POST', path, request, { 'idempotency-key': key })).body).not.toEqual(
      responses[0]!.body,
    );
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
      if (context.startsWith('idempotency_keys/') && text.includes('"result"'))
        throw new Error('the process dies');
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
    const rows = await service.database.query<{ row: string; bytes: Buffer }>(
      'SELECT idempotency_keys::text AS row, response_ciphertext AS bytes FROM idempotency_keys',
    );
    const dump = rows.map(({ row, bytes }) => row + bytes.toString('latin1')).join('\n');
    for (const text of [body[secret] as string, key]) expect(dump.includes(text)).toBe(false);
  });
});

it.each([' a', 'a\nb', 'a\u202eb', 'a\u200b', '\u3164', '\u2800'])(
  'an API key has no name such as %j',
  async (name) => {
    const { status, body } = await admin.call('POST', '/api-keys', { name, scopes: ['users:read'] });
    expect([status, body['errors']]).toMatchObject([400, [{ field: 'name' }]]);
  },
);

describe('an Idempotency-Key', () => {
  const request = { name: 'an app', scopes: ['users:read'] };

  it('rotates the secret of an endpoint once, and counts for that endpoint only', async () => {
    const [one, other] = await Promise.all(
      [0, 1].map(async () => (await admin.call('POST', '/webhook-endpoints', ENDPOINT)).body['id'] as string),
    );
    const key = randomUUID();
    const rotate = async (id: string) =>
      (await post(`/webhook-endpoints/${id}/rotate-secret`, {}, key)).body['secret'];
    const secrets = [await rotate(one!), await rotate(one!), await rotate(other!)];
    expect(secrets[0]).toMatch(/^whsec_/);
    expect(secrets[1]).toBe(secrets[0]);
    expect(secrets[2]).not.toBe(secrets[0]);
  });

  it('makes one campaign of a file, however often it is uploaded, also at once', async () => {
    const file = `tenantReference,ean\nR-${randomUUID()},${newEan()}\n`;
    const send = async (body: string, name = 'spring') => {
      const { status, body: answer } = await upload(service, body, `dryRun=true&name=${name}`, {
        'content-type': 'text/csv',
        'idempotency-key': key,
      });
      return [status, answer.code ?? answer.id];
    };
    const key = randomUUID();
    const before = await countOf('campaigns');
    const answers = await Promise.all([send(file), send(file)]);
    answers.push(await send(file));
    expect(answers[0]).toEqual([202, expect.any(String)]);
    expect(answers.slice(1)).toEqual([answers[0], answers[0]]);
    expect(await send(`${file}R-2,${newEan()}\n`)).toEqual([422, 'idempotency_key_reused']);
    expect(await send(file, 'autumn')).toEqual([422, 'idempotency_key_reused']);
    await waitFor('one campaign', async () => (await countOf('campaigns')) === before + 1);
  });

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
