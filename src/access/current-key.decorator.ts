import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { PresentedKey } from './api-keys.store.js';
import type { Principal } from './scopes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** RequestHooks sets it on every request to a route that is not public. */
    principal?: Principal;
    /** The key that the request or the session of its cookie names, be it valid or not. */
    presentedKey?: PresentedKey;
  }
}

export const CurrentKey = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === undefined) throw new Error('@CurrentKey() is used on a public route');
  return principal;
});
