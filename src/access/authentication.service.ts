import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { nameLocks } from '../platform/database/table-locks.js';
import { Environment } from '../platform/env/environment.js';
import { ApiKeysStore, hashIn, hashOf, mayExist, type PresentedKey } from './api-keys.store.js';
import type { Principal } from './scopes.js';

/** After this time, a replica looks up a cached key again, and so notices that another replica revoked it. docs/api.md promises 5 s. */
const CACHE_MS = 2_000;

const ADMINISTRATOR: Principal = { id: null, name: 'environment', scopes: ['admin'] };

/** Finds the principal of an API key. Compares the key with ADMIN_API_KEY in constant time. */
@Injectable()
export class Authentication {
  private readonly adminHash = hashOf(this.environment.ADMIN_API_KEY);
  private readonly cache = new Map<string, { principal: Promise<Principal | null>; startedAt: number }>();

  constructor(
    private readonly environment: Environment,
    private readonly keys: ApiKeysStore,
    private readonly database: Database,
  ) {}

  /** Returns null if the key is malformed, unknown or revoked. `now`: ms of a monotonic clock. */
  async authenticate(key: PresentedKey, now: number = performance.now()): Promise<Principal | null> {
    const hash = hashIn(key);
    if (timingSafeEqual(hash, this.adminHash)) return ADMINISTRATOR;
    if (!mayExist(key)) return null;
    const found = this.lookUp(hash, now);
    // Only a person with a session of the console may know which locks the look-up waits for.
    return typeof key === 'string' ? found : found.catch((error: unknown) => nameLocks(this.database, error));
  }

  /** Returns whether a well-formed key is new to this replica: not ADMIN_API_KEY, not cached as valid, and not being looked up. */
  mustQuery(key: PresentedKey): boolean {
    const hash = hashIn(key);
    return (
      mayExist(key) && !timingSafeEqual(hash, this.adminHash) && !this.cache.has(hash.toString('base64'))
    );
  }

  /** Makes this replica look up every key again. Keeps the cache entries, so that `mustQuery` stays false for known keys. */
  expireAll(): void {
    for (const entry of this.cache.values()) entry.startedAt = -Infinity;
  }

  private lookUp(hash: Buffer<ArrayBuffer>, now: number): Promise<Principal | null> {
    const id = hash.toString('base64');
    const known = this.cache.get(id);
    // Measures the age from the start of the query, because the key may be revoked while the query runs.
    if (known !== undefined && now - known.startedAt < CACHE_MS) return known.principal;
    const principal = this.find(hash);
    this.cache.set(id, { principal, startedAt: now });
    // Removes the entry if the key is invalid or the query failed.
    const forget = () => this.cache.get(id)?.principal === principal && this.cache.delete(id);
    principal.then((found) => found ?? forget(), forget);
    return principal;
  }

  private async find(hash: Buffer<ArrayBuffer>): Promise<Principal | null> {
    const found = await this.keys.find({ keyHash: hash });
    // Does not wait for the write. If the write fails, the next use of the key is recorded instead.
    if (found !== null) this.keys.noteUse(found.id).catch(() => {});
    return found;
  }
}
