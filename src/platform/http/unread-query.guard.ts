import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { PUBLIC } from './public.decorator.js';
import { refuse } from './validation.js';

/**
 * Refuses query parameters on a route that takes none. Where a route takes some, their class refuses the others; here nobody
 * would look, and a filter that the caller believes in would have no effect. A public route has no filters, and probers and browsers
 * add parameters of their own, so there they are ignored. A guard, because with a single interceptor Nest takes
 * every answer through observables: a quarter of the CPU of reading a session.
 */
export class RefuseUnreadQuery implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { query } = context.switchToHttp().getRequest<FastifyRequest>();
    const names = Object.keys(query as object);
    if (names.length > 0 && !isPublic(context) && !readsQuery(context))
      refuse(names.map((field) => ({ field, message: 'is not known here' })));
    return true;
  }
}

const isPublic = (context: ExecutionContext): boolean => Reflect.hasMetadata(PUBLIC, context.getHandler());

/** Nest keeps the decorated arguments of a method under keys such as `4:0`: the kind, then the position. */
function readsQuery(context: ExecutionContext): boolean {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name) ??
    {}) as object;
  return Object.keys(args).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
