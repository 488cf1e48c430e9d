import { timingSafeEqual } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../platform/env/environment.js';
import { Problem } from '../platform/problem/problem.js';
import { hashOf, isApiKey } from './api-key.js';
import { ApiKeysStore } from './api-keys.store.js';
import type { Principal } from './scopes.js';

/** A revoked key is refused everywhere this long after its revocation at the latest; we promise 5 s. */
const CACHE_MS = 2_000;
/** More keys in use within two seconds than this means that some of them are asked for more often, and nothing else. */
const CACHE_SIZE = 1_000;

const ADMINISTRATOR: Principal = { id: null, name: 'environment', scopes: ['admin'] };

interface Known {
  readonly principal: Promise<Principal | null>;
  readonly askedAt: number;
  /** Once the answer is here. */
  found?: Principal;
}

/** Whose key this is. */
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

  /** As `authenticate`, where that needs nobody to be asked; undefined says nothing of the key. For nearly every request. */
  findKnown(key: string, now: number = performance.now()): Principal | undefined {
    const hash = hashOf(key);
    const known = this.cache.get(hash.toString('base64'));
    if (known?.found !== undefined && now - known.askedAt < CACHE_MS) return known.found;
    return this.isAdministrator(hash) ? ADMINISTRATOR : undefined;
  }

  /** Null for a key that is malformed, unknown or revoked. `now` counts milliseconds on a clock that never goes back. */
  async authenticate(key: string, now: number = performance.now()): Promise<Principal | null> {
    const hash = hashOf(key);
    if (this.isAdministrator(hash)) return ADMINISTRATOR;
    return isApiKey(key) ? this.lookUp(hash, now) : null;
  }

  /** Whether a key was valid here before, or is just being looked up: asking about it makes no further query of a made-up one. */
  knows(key: string): boolean {
    const hash = hashOf(key);
    return this.isAdministrator(hash) || this.cache.has(hash.toString('base64'));
  }

  /** For what is answered long after the request came. Throws Problem unauthenticated. */
  async requireUnrevoked({ id }: Principal): Promise<void> {
    if (id === null) return;
    const revoked = await this.keys.findRevoked([id]);
    if (revoked.length > 0) throw new Problem('unauthenticated', 'The API key was revoked meanwhile');
  }

  /** Of the keys with these ids, those that were revoked: to be asked every few seconds by what goes on after a request began. */
  findRevoked(ids: readonly string[]): Promise<string[]> {
    return this.keys.findRevoked(ids);
  }

  /** Hashes have one length and tell nothing of the key, so the comparison takes the same time for all. */
  private isAdministrator(hash: Buffer): boolean {
    return timingSafeEqual(hash, this.adminHash);
  }

  private lookUp(hash: Buffer, now: number): Promise<Principal | null> {
    const id = hash.toString('base64');
    const known = this.cache.get(id);
    // Counted from the moment of asking, not of the answer: the key may have been revoked while the answer was on its way.
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

  /** Only valid keys stay known: made-up ones must not push them out, and an outage must not be remembered. */
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
    // Nobody waits for this, and a use that is not noted is noted by the next.
    if (useIsStale)
      this.keys
        .noteUse(id)
        .catch((error: Error) => this.logger.debug(`use of a key not noted: ${error.message}`));
    return { id, name, scopes };
  }
}
