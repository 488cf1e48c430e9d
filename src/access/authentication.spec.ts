import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../platform/database/database.js';
import type { Environment } from '../platform/env/environment.js';
import { hashOf, isApiKey, newApiKey, type ApiKeysStore } from './api-keys.store.js';
import { Authentication } from './authentication.service.js';

const ADMIN_KEY = 'the-administrator-key-of-this-test-0001';

class StoreDouble {
  readonly keys = new Map<string, { id: string; name: string; scopes: string[] }>();
  readonly notedIds: string[] = [];
  lookUps = 0;
  failure: Error | undefined;

  add(): string {
    const key = newApiKey();
    this.keys.set(hashOf(key).toString('hex'), {
      id: key.slice(4, 12),
      name: 'app',
      scopes: ['users:read'],
    });
    return key;
  }

  revoke(key: string): void {
    this.keys.delete(hashOf(key).toString('hex'));
  }

  async find({ keyHash }: { keyHash: Buffer }) {
    this.lookUps++;
    await Promise.resolve();
    if (this.failure) throw this.failure;
    return this.keys.get(keyHash.toString('hex')) ?? null;
  }

  async noteUse(id: string) {
    this.notedIds.push(id);
    await Promise.resolve();
  }
}

describe('Authentication', () => {
  let store: StoreDouble;
  let authentication: Authentication;

  beforeEach(() => {
    store = new StoreDouble();
    const environment = { ADMIN_API_KEY: ADMIN_KEY } as Environment;
    authentication = new Authentication(environment, store as unknown as ApiKeysStore, {} as Database);
  });

  it('accepts ADMIN_API_KEY without a database query', async () => {
    expect(await authentication.authenticate(ADMIN_KEY)).toEqual({
      id: null,
      name: 'environment',
      scopes: ['admin'],
    });
    expect(store.lookUps).toBe(0);
  });

  it.each([
    '',
    'x',
    `${ADMIN_KEY}x`,
    ADMIN_KEY.slice(1),
    'pvo_',
    `pvo_${'a'.repeat(44)}`,
    `xxx_${'a'.repeat(43)}`,
    'p'.repeat(100_000),
  ])('refuses %.50s without a database query', async (key) => {
    expect(await authentication.authenticate(key)).toBeNull();
    expect(store.lookUps).toBe(0);
  });

  it('looks up a key once for concurrent requests, and again after 2 seconds', async () => {
    const key = store.add();
    const found = await Promise.all(Array.from({ length: 50 }, () => authentication.authenticate(key, 0)));
    expect(new Set(found.map((principal) => principal?.scopes[0]))).toEqual(new Set(['users:read']));
    await authentication.authenticate(key, 1_999);
    expect(store.lookUps).toBe(1);
    await authentication.authenticate(key, 2_000);
    expect(store.lookUps).toBe(2);
  });

  it('refuses a revoked key after 2 seconds, even if requests with it never pause', async () => {
    const key = store.add();
    await authentication.authenticate(key, 0);
    store.revoke(key);
    const accepted: boolean[] = [];
    for (let now = 100; now <= 3_000; now += 100)
      accepted.push((await authentication.authenticate(key, now)) !== null);
    expect(accepted.lastIndexOf(true)).toBe(18);
  });

  it('caches neither an unknown key nor a failure', async () => {
    const unknown = newApiKey();
    expect(await authentication.authenticate(unknown, 0)).toBeNull();
    expect(await authentication.authenticate(unknown, 0)).toBeNull();
    expect(store.lookUps).toBe(2);
    const key = store.add();
    store.failure = new Error('the database is away');
    await expect(authentication.authenticate(key, 0)).rejects.toThrow('away');
    store.failure = undefined;
    expect(await authentication.authenticate(key, 0)).not.toBeNull();
  });

  it('keeps a valid key cached, however many unknown keys follow', async () => {
    const key = store.add();
    await authentication.authenticate(key, 0);
    for (let i = 0; i < 2_000; i++) await authentication.authenticate(newApiKey(), 0);
    store.lookUps = 0;
    await authentication.authenticate(key, 1);
    expect(store.lookUps).toBe(0);
  });

  it('notes the use of a key only when it is looked up', async () => {
    const key = store.add();
    await authentication.authenticate(key, 0);
    await authentication.authenticate(key, 1);
    expect(store.notedIds).toHaveLength(1);
  });
});

describe('newApiKey', () => {
  it('returns distinct keys in our format', () => {
    const keys = Array.from({ length: 1_000 }, newApiKey);
    expect(keys.every(isApiKey)).toBe(true);
    expect(new Set(keys).size).toBe(1_000);
  });
});
