import { timingSafeEqual } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { Problem } from '../platform/problem/problem.js';
import { hashOf, isApiKey } from './api-key.js';
import { ApiKeysStore } from './api-keys.store.js';
import type { Principal } from './scopes.js';

/** Bounds how long replicas accept a revoked key; we promise 5 s. */
const CACHE_MS = 2_000;
/** Cache bound; beyond it, keys are just looked up more often. */
const CACHE_SIZE = 1_000;

const ADMINISTRATOR: Principal = { id: null, name: 'environment', scopes: ['admin'] };

interface Known {
  readonly principal: Promise<Principal | null>;
  readonly askedAt: number;
  /** Set after a successful look-up. */
  found?: Principal;
}

/** Finds the principal of an API key. */
@Injectable()
export class Authentication {
  private readonly logger = new Logger(Authentication.name);
  private readonly adminHash: Buffer;
  private readonly cache = new Map<string, Known>();

  constructor(
    environment: Environment,
    private readonly keys: ApiKeysStore,
  ) {
    this.adminHash = hashOf(environment.ADMIN_API_KEY);
  }

  /**
   * Returns the principal if the key is cached or the administrator's, without a query; undefined says nothing about the key. Serves nearly
   * every request.
   */
  findKnown(key: string, now: number = performance.now()): Principal | undefined {
    const hash = hashOf(key);
    const known = this.cache.get(hash.toString('base64'));
    if (known?.found !== undefined && now - known.askedAt < CACHE_MS) return known.found;
    return this.isAdministrator(hash) ? ADMINISTRATOR : undefined;
  }

  /** Returns null for a key that is malformed, unknown or revoked. `now` is in milliseconds of a monotonic clock. */
  async authenticate(key: string, now: number = performance.now()): Promise<Principal | null> {
    const hash = hashOf(key);
    if (this.isAdministrator(hash)) return ADMINISTRATOR;
    return isApiKey(key) ? this.lookUp(hash, now) : null;
  }

  /** Returns whether a key was valid here before, or is being looked up: a repeated attempt with an invented key adds no query. */
  knows(key: string): boolean {
    const hash = hashOf(key);
    return this.isAdministrator(hash) || this.cache.has(hash.toString('base64'));
  }

  /** For responses that end long after the request arrived. Throws Problem unauthenticated. */
  async requireUnrevoked({ id }: Principal): Promise<void> {
    if (id === null) return;
    const revoked = await this.keys.findRevoked([id]);
    if (revoked.length > 0) throw new Problem('unauthenticated', 'The API key was revoked meanwhile');
  }

  /** Returns which of these keys were revoked. Long-running requests check this every few seconds. */
  findRevoked(ids: readonly string[]): Promise<string[]> {
    return this.keys.findRevoked(ids);
  }

  /** Compares in constant time: hashes have the same length and reveal nothing about the key. */
  private isAdministrator(hash: Buffer): boolean {
    return timingSafeEqual(hash, this.adminHash);
  }

  private lookUp(hash: Buffer, now: number): Promise<Principal | null> {
    const id = hash.toString('base64');
    const known = this.cache.get(id);
    // The age counts from the look-up, not from its result: the key may have been revoked in between.
    if (known !== undefined && now - known.askedAt < CACHE_MS) return known.principal;
    const principal = this.ask(hash);
    // Deleted first, so that the map stays ordered by age.
    this.cache.delete(id);
    const asked: Known = { principal, askedAt: now };
    this.cache.set(id, asked);
    void principal.then(
      (found) => (found === null ? this.forget(id, principal) : this.remember(asked, found)),
      () => this.forget(id, principal),
    );
    return principal;
  }

  /** Drops the entry. Only valid keys stay cached: invented ones must not displace them, and an outage must not be cached. */
  private forget(id: string, principal: Promise<Principal | null>): void {
    if (this.cache.get(id)?.principal === principal) this.cache.delete(id);
  }

  private remember(asked: Known, found: Principal): void {
    asked.found = found;
    const [oldest] = this.cache.keys();
    if (this.cache.size > CACHE_SIZE && oldest !== undefined) this.cache.delete(oldest);
  }

  private async ask(hash: Buffer): Promise<Principal | null> {
    const found = await this.keys.findByHash(hash);
    if (found === null) return null;
    const { id, name, scopes, useIsStale } = found;
    // No caller waits for this. If it fails, the next use is recorded instead.
    if (useIsStale)
      this.keys
        .noteUse(id)
        .catch((error: Error) => this.logger.debug(`use of a key not noted: ${error.message}`));
    return { id, name, scopes };
  }
}
