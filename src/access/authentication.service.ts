import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { Problem } from '../platform/problem/problem.js';
import { ApiKeysStore, hashOf, isApiKey } from './api-keys.store.js';
import type { Principal } from './scopes.js';

/** The longest time for which another replica accepts a revoked key. docs/api.md promises 5 s. */
const CACHE_MS = 2_000;

const ADMINISTRATOR: Principal = { id: null, name: 'environment', scopes: ['admin'] };

/** Finds the principal of an API key. Compares with ADMIN_API_KEY in constant time. */
@Injectable()
export class Authentication {
  private readonly adminHash = hashOf(this.environment.ADMIN_API_KEY);
  private readonly cache = new Map<string, { principal: Promise<Principal | null>; startedAt: number }>();

  constructor(
    private readonly environment: Environment,
    private readonly keys: ApiKeysStore,
  ) {}

  /** Returns null for a key that is malformed, unknown or revoked. `now` is in milliseconds of a monotonic clock. */
  async authenticate(key: string, now: number = performance.now()): Promise<Principal | null> {
    const hash = hashOf(key);
    if (timingSafeEqual(hash, this.adminHash)) return ADMINISTRATOR;
    return isApiKey(key) ? this.lookUp(hash, now) : null;
  }

  /** Returns whether a well-formed key is unknown to this replica: it is neither cached as valid nor being looked up. */
  mustQuery(key: string): boolean {
    const hash = hashOf(key);
    return (
      isApiKey(key) && !timingSafeEqual(hash, this.adminHash) && !this.cache.has(hash.toString('base64'))
    );
  }

  /** Returns those of the keys that are revoked. */
  findRevoked(ids: readonly string[]): Promise<string[]> {
    return this.keys.findRevoked(ids);
  }

  /** Throws Problem unauthenticated if the key was revoked. Call it before a response that comes long after its request. */
  async requireUnrevoked({ id }: Principal): Promise<void> {
    if (id === null) return;
    const revoked = await this.findRevoked([id]);
    if (revoked.length > 0) throw new Problem('unauthenticated', 'The API key has been revoked');
  }

  /** Makes this replica look up every key again, since one was revoked. Keeps the entries: a known key does not count as a failure. */
  expireAll(): void {
    for (const entry of this.cache.values()) entry.startedAt = -Infinity;
  }

  private lookUp(hash: Buffer<ArrayBuffer>, now: number): Promise<Principal | null> {
    const id = hash.toString('base64');
    const known = this.cache.get(id);
    // Counts the age from the start of the query, because the key may be revoked while the query runs.
    if (known !== undefined && now - known.startedAt < CACHE_MS) return known.principal;
    const principal = this.find(hash);
    this.cache.set(id, { principal, startedAt: now });
    // Neither an invalid key nor a failed query stays cached.
    const forget = () => this.cache.get(id)?.principal === principal && this.cache.delete(id);
    principal.then((found) => found ?? forget(), forget);
    return principal;
  }

  private async find(hash: Buffer<ArrayBuffer>): Promise<Principal | null> {
    const found = await this.keys.findByHash(hash);
    // Not awaited. If recording this use fails, the next use is recorded.
    if (found !== null) this.keys.noteUse(found.id).catch(() => {});
    return found;
  }
}
