import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { PresentedKey } from './api-keys.store.js';
import type { Principal } from './scopes.js';

/** What a request has in the place of an API key: a principal, or the hash of a key that is still to be looked up. */
export interface SessionCredential {
  readonly caller: { readonly principal: Principal } | { readonly key: PresentedKey };
  /** In ms since 1970. */
  readonly expiresAt: number;
}

/** Finds the session in a request that has no API key. Throws Problem if the request may not use its session. */
export type FindSession = (request: FastifyRequest) => SessionCredential | null;

/** How requests without an API key are identified. Empty unless a feature adds a kind of session. */
@Injectable()
export class SessionCredentials {
  private readonly kinds: FindSession[] = [];

  add(kind: FindSession): void {
    this.kinds.push(kind);
  }

  find(request: FastifyRequest): SessionCredential | null {
    for (const kind of this.kinds) {
      const found = kind(request);
      if (found !== null) return found;
    }
    return null;
  }
}
