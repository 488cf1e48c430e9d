import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Principal } from './scopes.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the guards run, on every route that is not public. */
    principal?: Principal;
  }
}

/** Injects the principal that made this request. */
export const CurrentKey = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
  if (principal === undefined) throw new Error('@CurrentKey() is used on a public route');
  return principal;
});
