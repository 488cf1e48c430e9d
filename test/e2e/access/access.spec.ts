import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { Authentication } from '../../../src/access/authentication.service.js';
import { SCOPES, type Scope } from '../../../src/access/scopes.js';
import { Public } from '../../../src/platform/http/public.decorator.js';
import { dumpTables, findSecrets } from '../../faults/support/input/secret-search.js';
import { inTime, itAtLength, promise } from '../../faults/support/promise.js';
import { startTestApp, type TestApp } from '../../setup/test-app.js';
import { startReplica, withReplica } from '../replica.js';
import { withClient } from '../../setup/database/with-client.js';

const UNKNOWN_ID = '3f0c6a5e-1111-4222-8333-444455556666';
const REVOKED_WITHIN_MS = 5_000;

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp({ TRUSTED_PROXIES: ['127.0.0.1'] });
});

afterAll(() => service.close());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

interface Call {
  readonly method?: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly at?: string;
}

let calls = 0;

/** Sends each call from a new client address, because the service blocks an address after too many calls with unknown keys. */
async function call(
  path: string,
  { method = 'GET', key = service.adminKey, body, at = service.url }: Call = {},
): Promise<Answer> {
  const response = await fetch(at + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'x-forwarded-for': `2001:db8:${(++calls).toString(16)}::1`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // The body of an event stream never ends, so the test does not read it.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
  };
}

async function createKey(...scopes: Scope[]): Promise<{ id: string; key: string }> {
  const { status, body } = await call('/api/v1/api-keys', {
    method: 'POST',
    body: { name: 'an app', scopes },
  });
  expect(status).toBe(201);
  return body as { id: string; key: string };
}

describe('API keys', () => {
  it('are created, used, listed without the key, and revoked', async () => {
    const created = await call('/api/v1/api-keys', {
      method: 'POST',
      body: { name: 'An app', scopes: ['admin', 'users:read'] },
    });
    expect(created).toMatchObject({
      status: 201,
      body: {
        id: expect.any(String),
        name: 'An app',
        scopes: ['admin', 'users:read'],
        key: expect.stringMatching(/^pvo_[\w-]{43}$/),
        createdAt: expect.any(String),
      },
    });
    const { id, key } = created.body as { id: string; key: string };
    const { body: list } = await call('/api/v1/api-keys', { key });
    const items = list['items'] as Record<string, unknown>[];
    expect(items[0]).toMatchObject({ id, name: 'An app', createdBy: 'environment', revokedAt: null });
    expect(JSON.stringify(list)).not.toContain('pvo_');

    expect((await call(`/api/v1/api-keys/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await call(`/api/v1/api-keys/${id}`, { method: 'DELETE' })).status).toBe(204);
    const { body: after } = await call('/api/v1/api-keys');
    expect((after['items'] as Record<string, unknown>[])[0]).toMatchObject({
      id,
      revokedAt: expect.any(String),
    });
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
    for (const scopes of [...SCOPES, ...routes.map(({ scope }) => scope)])
      if (!keys.has(scopes)) keys.set(scopes, (await createKey(...(scopes.split(' ') as Scope[]))).key);
    expect(routes.length).toBeGreaterThan(2);
    for (const { method, path, scope } of routes) {
      const statusWith = async (key: string) => (await call(path, { method, key })).status;
      const others = SCOPES.filter((other) => other !== scope && other !== 'admin');
      const said = `${method} ${path}`;
      expect([said, await statusWith('')]).toEqual([said, 401]);
      for (const other of others)
        expect([said, other, await statusWith(keys.get(other)!)]).toEqual([said, other, 403]);
      for (const allowed of [scope, 'admin'] as const) {
        expect([200, 201, 202, 204, 400, 404, 409, 422, 503]).toContain(await statusWith(keys.get(allowed)!));
      }
    }
  });

  it('refuses a key without the scope before it reads the body', async () => {
    const { key } = await createKey('users:read');
    const body = { tenantReference: 'x'.repeat(2_000_000) };
    expect((await call('/api/v1/users', { method: 'POST', key, body })).status).toBe(403);
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

describe('R35: keys are safe', () => {
  /** Revokes a key. Returns how many milliseconds after the revocation a replica last accepted the key. */
  async function msUntilRefused(replicas: readonly TestApp[]): Promise<number> {
    const { id, key } = await createKey('admin');
    const isTaken = async ({ url }: TestApp) =>
      (await call('/api/v1/api-keys?limit=1', { key, at: url })).status === 200;
    expect(await Promise.all(replicas.map(isTaken))).toEqual(replicas.map(() => true));
    await call(`/api/v1/api-keys/${id}`, { method: 'DELETE' });
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
    const { id, key } = await createKey('admin');
    expect((await call('/api/v1/api-keys', { key })).status).toBe(200);
    await call(`/api/v1/api-keys/${id}`, { method: 'DELETE' });
    expect((await call('/api/v1/api-keys', { key })).status).toBe(401);
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
    const { id, key } = await createKey('admin');
    await call('/api/v1/api-keys', { key });
    const tables = await dumpTables(service.environment.DATABASE_URL);
    expect(tables.get('table public.api_keys')).toContain(id);
    const found = findSecrets({ key, random: key.slice(4), admin: service.adminKey }, tables);
    promise('R35', { figure: `${found.length} keys in the clear in the database`, bound: '0' });
    expect(found).toEqual([]);
  });

  itAtLength('turns red when a key is stored in the clear', async () => {
    const { key } = await createKey('admin');
    const { DATABASE_URL } = service.environment;
    await withClient(DATABASE_URL, (client) => client.query('UPDATE api_keys SET name = $1', [key]));
    expect(findSecrets({ key }, await dumpTables(DATABASE_URL))).not.toEqual([]);
  });
});
