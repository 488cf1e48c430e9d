import type { FastifyInstance } from 'fastify';

interface KnownRoute {
  readonly method: string;
  readonly pattern: RegExp;
}

/** Distinguishes an unknown resource from an unsupported method, which Fastify's router does not. */
export class KnownRoutes {
  private readonly routes: KnownRoute[] = [];

  constructor(server: FastifyInstance) {
    server.addHook('onRoute', ({ method, url }) => {
      // A catch-all route belongs to the console or an error handler and does not describe a resource.
      if (url.includes('*')) return;
      const pattern = new RegExp(
        `^${url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}/?$`,
      );
      for (const name of [method].flat()) this.routes.push({ method: name, pattern });
    });
  }

  /** Returns the methods that the resource at this path supports; empty if there is no resource. */
  methodsAt(path: string): string[] {
    return [
      ...new Set(this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
    ].sort();
  }
}
