import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** From `PLAIN_READ`. */
    isPlainRead?: boolean;
  }
}

/**
 * Of a route that is asked more than all others: without a query it reads our database and does nothing else. Nothing that it runs
 * asks for the context of the request, so it goes without; what goes wrong is logged with it all the same.
 */
export const PLAIN_READ = { isPlainRead: true };

export const isPlainRead = ({ routeOptions, url }: FastifyRequest): boolean =>
  routeOptions.config.isPlainRead === true && !url.includes('?');
