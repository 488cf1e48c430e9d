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

/** How a request without an API key is identified: not at all, unless a feature replaces these functions. */
@Injectable()
export class OtherCredentials {
  /** Returns null if the request has no session. Throws Problem if the request may not use its session. */
  findSession: (request: FastifyRequest) => SessionCredential | null = () => null;
  /** Returns the caller for whom this process sends a request to itself with this token in the place of a key. */
  findInternal: (token: string) => Principal | undefined = () => undefined;
}
