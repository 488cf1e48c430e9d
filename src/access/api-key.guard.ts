import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { PUBLIC } from '../platform/http/public.decorator.js';
import { Problem } from '../platform/problem/problem.js';
import { Authentication } from './authentication.service.js';
import { REQUIRED_SCOPE } from './require-scope.decorator.js';
import { hasScope, type Scope } from './scopes.js';

/** Stands before every route: who calls, and may they. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authentication: Authentication,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    if (this.reflector.get<boolean | undefined>(PUBLIC, handler)) return true;
    const scope = this.reflector.get<Scope>(REQUIRED_SCOPE, handler);
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const principal = key === undefined ? null : await this.authentication.authenticate(key);
    // One answer for every reason: which of them it was would help nobody but an attacker.
    if (principal === null)
      throw new Problem('unauthenticated', 'Send a valid API key as Authorization: Bearer <key>');
    if (!hasScope(principal, scope))
      throw new Problem('forbidden', `This needs a key with the scope ${scope}`);
    request.principal = principal;
    return true;
  }
}
