import { applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension, ApiOperation } from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import type { Scope } from './scopes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    requiredScopes?: readonly Scope[];
    operationId?: string;
  }
}

/** Declares an operation of the API, for which the caller needs all of `scopes`. The name of the method becomes the `operationId`. */
export const Operation =
  (
    scopes: Scope | readonly Scope[],
    documentation: Readonly<{ summary: string; description: string }>,
    config: Pick<FastifyContextConfig, 'takesFile'> = {},
  ): MethodDecorator =>
  (target, operationId, descriptor) =>
    applyDecorators(
      RouteConfig({ ...config, requiredScopes: [scopes].flat(), operationId: String(operationId) }),
      ApiOperation(documentation),
      ApiBearerAuth('apiKey'),
      ApiExtension('x-required-scope', [scopes].flat().join(' ')),
      ApiProblems('unauthenticated', 'forbidden', 'too_many_requests'),
    )(target, operationId, descriptor);
