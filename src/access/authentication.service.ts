import { timingSafeEqual } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { Problem } from '../platform/problem/problem.js';
import { ApiKeysStore, hashOf, isApiKey } from './api-keys.store.js';
import type { Principal } from './scopes.js';

/** The longest time for which a replica accepts a revoked key. docs/api-keys.md promises 5 s. */
const CACHE_MS = 2_000;
const CACHE_SIZE = 1_000;

const ADMINISTRATOR: Principal = { id: null, name: 'environment', scopes: ['admin'] };

interface LookUp {
  readonly principal: Promise<Principal | null>;
  readonly startedAt: number;
}

/** Finds the principal of an API key. Compares with ADMIN_API_KEY in constant time. */
@Injectable()
export class Authentication {
  private readonly logger = new Logger(Authentication.name);
  private readonly adminHash = hashOf(this.environment.ADMIN_API_KEY);
  private readonly cache = new Map<string, LookUp>();

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

  /** Returns whether this replica found the key valid before, or is looking it up now. */
  knows(key: string): boolean {
    const hash = hashOf(key);
    return timingSafeEqual(hash, this.adminHash) || this.cache.has(hash.toString('base64'));
  }

  /** Throws Problem unauthenticated if the key was revoked. Call it before a response that comes long after its request. */
  async requireUnrevoked({ id }: Principal): Promise<void> {
    if (id === null) return;
    const revoked = await this.keys.findRevoked([id]);
    if (revoked.length > 0) throw new Problem('unauthenticated', 'The API key has been revoked');
  }

  private lookUp(hash: Buffer<ArrayBuffer>, now: number): Promise<Principal | null> {
    const id = hash.toString('base64');
    const known = this.cache.get(id);
    // Counts the age from the start of the query, because the key may be revoked while the query runs.
    if (known !== undefined && now - known.startedAt < CACHE_MS) return known.principal;
    const principal = this.find(hash);
    // Deletes first, so that the map stays ordered by age.
    this.cache.delete(id);
    this.cache.set(id, { principal, startedAt: now });
    // Only valid keys stay cached. Invalid keys must not displace valid keys, and a failed query must not be cached.
    const forget = () => this.cache.get(id)?.principal === principal && this.cache.delete(id);
    principal.then((found) => (found === null ? forget() : this.forgetOldest()), forget);
    return principal;
  }

  private forgetOldest(): void {
    const [oldest] = this.cache.keys();
    if (this.cache.size > CACHE_SIZE && oldest !== undefined) this.cache.delete(oldest);
  }

  private async find(hash: Buffer<ArrayBuffer>): Promise<Principal | null> {
    const found = await this.keys.findByHash(hash);
    // Not awaited. If recording this use fails, the next use is recorded.
    if (found !== null)
      this.keys
        .noteUse(found.id)
        .catch((error: Error) => this.logger.debug(`use of a key not recorded: ${error.message}`));
    return found;
  }
}
