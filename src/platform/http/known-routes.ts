import type { FastifyInstance } from 'fastify';

interface KnownRoute {
  readonly method: string;
  readonly pattern: RegExp;
}

/** Tells "no such resource" from "not with this method", which Fastify's router does not. */
export class KnownRoutes {
  private readonly routes: KnownRoute[] = [];

  constructor(server: FastifyInstance) {
    server.addHook('onRoute', ({ method, url }) => {
      // A route for everything is the console or an error handler's; it says nothing of what a resource takes.
      if (url.includes('*')) return;
      const pattern = new RegExp(
        `^${url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}/?$`,
      );
      for (const name of [method].flat()) this.routes.push({ method: name, pattern });
    });
  }

  /** The methods that the resource at this path takes; empty when there is none. */
  methodsAt(path: string): string[] {
    return [
      ...new Set(this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
    ].sort();
  }
}
