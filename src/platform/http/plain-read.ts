import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** From `PLAIN_READ`. */
    isPlainRead?: boolean;
  }
}

/**
 * Marks the most frequent route: without a query it only reads our database. Its code does not use the request context, so it runs without
 * one; errors are logged with the context all the same.
 */
export const PLAIN_READ = { isPlainRead: true };

export const isPlainRead = ({ routeOptions, url }: FastifyRequest): boolean =>
  routeOptions.config.isPlainRead === true && !url.includes('?');
