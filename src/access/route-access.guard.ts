import { Injectable, type CanActivate, type ExecutionContext, type OnModuleInit } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { PUBLIC } from '../platform/http/public.decorator.js';
import { Problem } from '../platform/problem/problem.js';
import { REQUIRED_SCOPE } from './operation.decorator.js';
import { hasScope, type Scope } from './scopes.js';

/** Checks that the key of a request has the scope of the route. Refuses to start if a route neither declares a scope nor is public. */
@Injectable()
export class RouteAccess implements CanActivate, OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const undecided = this.discovery.getControllers().flatMap(({ name, metatype }) => {
      const prototype = metatype!.prototype as Record<string, object>;
      const has = (key: string, method: string) => Reflect.hasMetadata(key, prototype[method]!);
      return this.scanner
        .getAllMethodNames(prototype)
        .filter(
          (method) => has(METHOD_METADATA, method) && !has(REQUIRED_SCOPE, method) && !has(PUBLIC, method),
        )
        .map((method) => `${name}.${method}`);
    });
    if (undecided.length > 0)
      throw new Error(`these routes need @Operation() or @Public(): ${undecided.join(', ')}`);
  }

  canActivate(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    if (this.reflector.get<boolean | undefined>(PUBLIC, handler)) return true;
    const scope = this.reflector.get<Scope>(REQUIRED_SCOPE, handler);
    const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
    // RequestHooks sets the principal before any guard runs. Without a principal, every request is refused.
    if (principal === undefined) throw new Error('a route that needs a key was reached without one');
    if (!hasScope(principal, scope))
      throw new Problem('forbidden', `This needs a key with the scope ${scope}`);
    return true;
  }
}
