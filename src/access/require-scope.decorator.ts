import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import type { Scope } from './scopes.js';

export const REQUIRED_SCOPE = 'pv-onboarding:scope';

export const RequireScope = (scope: Scope): MethodDecorator =>
  applyDecorators(
    SetMetadata(REQUIRED_SCOPE, scope),
    RouteConfig({ requiredScope: scope }),
    ApiBearerAuth('apiKey'),
    ApiExtension('x-required-scope', scope),
    ApiProblems('unauthenticated', 'forbidden', 'too_many_requests'),
  );
