import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { PresentedKey } from './api-keys.store.js';
import type { Principal } from './scopes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** RequestHooks sets it on every request to a route that is not public. */
    principal?: Principal;
    /** The key of the request, or of the console session of its cookie, whether it is valid or not. */
    presentedKey?: PresentedKey;
  }
}

export const CurrentKey = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === undefined) throw new Error('@CurrentKey() is used on a public route');
  return principal;
});
