import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { PUBLIC } from './public.decorator.js';
import { refuse } from './validation.js';

/**
 * Refuses query parameters on a route that declares none. On other routes the parameter class refuses unknown ones; here a filter that the
 * caller relies on would silently have no effect. Public routes ignore them: they have no filters, and probers and browsers add their own
 * parameters. A guard, because with a single interceptor Nest passes every response through observables: a quarter of the CPU of reading a
 * session.
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

/** Returns whether the method has a `@Query`. Nest stores the decorated arguments under keys such as `4:0`: the kind, then the position. */
function readsQuery(context: ExecutionContext): boolean {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name) ??
    {}) as object;
  return Object.keys(args).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
