import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import type { FastifyContextConfig } from 'fastify';
import type { Scope } from './scopes.js';

export const REQUIRED_SCOPE = 'pv-onboarding:scope';

/**
 * Declares the scope that a key needs for this route. `config` is the route's further Fastify configuration, since a second @RouteConfig()
 * would replace this one.
 */
export const RequireScope = (scope: Scope, config: FastifyContextConfig = {}): MethodDecorator =>
  applyDecorators(
    SetMetadata(REQUIRED_SCOPE, scope),
    RouteConfig({ ...config, requiredScope: scope }),
    ApiBearerAuth('apiKey'),
    ApiExtension('x-required-scope', scope),
    ApiProblems('unauthenticated', 'forbidden', 'too_many_requests'),
  );
