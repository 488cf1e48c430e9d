import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { PUBLIC } from '../platform/http/public.decorator.js';
import { Problem } from '../platform/problem/problem.js';
import { REQUIRED_SCOPE } from './require-scope.decorator.js';
import { hasScope, type Scope } from './scopes.js';

/** Checks that the key of a request, which `RequestAdmission` has found valid, has the route's scope. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    if (this.reflector.get<boolean | undefined>(PUBLIC, handler)) return true;
    const scope = this.reflector.get<Scope>(REQUIRED_SCOPE, handler);
    const { principal } = context.switchToHttp().getRequest<FastifyRequest>();
    // If the hook that sets the principal failed, refuse every request.
    if (principal === undefined) throw new Error('a route that needs a key was reached without one');
    if (!hasScope(principal, scope))
      throw new Problem('forbidden', `This needs a key with the scope ${scope}`);
    return true;
  }
}
