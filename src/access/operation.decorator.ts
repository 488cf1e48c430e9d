import { applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension, ApiOperation } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import type { Scope } from './scopes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    requiredScope?: Scope;
  }
}

/** Declares an operation of the API and the scope that its caller must have. The name of the method becomes the `operationId`. */
export const Operation = (
  scope: Scope,
  documentation: Readonly<{ summary: string; description: string }>,
): MethodDecorator =>
  applyDecorators(
    RouteConfig({ requiredScope: scope }),
    ApiOperation(documentation),
    ApiBearerAuth('apiKey'),
    ApiExtension('x-required-scope', scope),
    ApiProblems('unauthenticated', 'forbidden', 'too_many_requests'),
  );
