import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    isPublic?: true | 'outside production';
  }
}

/** Marks a route that needs no API key. The start fails if a route has neither @Operation nor a decorator of this file. */
export const Public = (): MethodDecorator => RouteConfig({ isPublic: true });

/** Marks a route that needs no API key outside production. In production, it needs a valid key with any scope. */
export const PublicOutsideProduction = (): MethodDecorator => RouteConfig({ isPublic: 'outside production' });
