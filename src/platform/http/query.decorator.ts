import { createParamDecorator, Query as NestQuery, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

const READS_QUERY = Symbol('whether the method reads its query');

/** Nest's `@Query`. Also marks the method, because Nest does not publish which methods have one. */
export const Query = (): ParameterDecorator => (controller, name, index) => {
  NestQuery()(controller, name, index);
  Reflect.defineMetadata(READS_QUERY, true, controller, name!);
};

/**
 * Passes the query of a page to its method: the first value of each name. Refuses nothing, because mail programs and campaigns add parameters
 * of their own to a link, some of them twice.
 */
export const PageQuery = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const [, ...query] = context.switchToHttp().getRequest<FastifyRequest>().url.split('?');
  return Object.fromEntries([...new URLSearchParams(query.join('?'))].reverse());
});

/** Marks a method that passes the query on as it is. */
export const PassesQuery = (): MethodDecorator => (controller, name) =>
  Reflect.defineMetadata(READS_QUERY, true, controller, name);

export const readsQuery = (controller: object, method: string): boolean =>
  Reflect.hasMetadata(READS_QUERY, controller, method);
