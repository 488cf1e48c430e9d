import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { RequireScope } from './require-scope.decorator.js';
import type { Scope } from './scopes.js';

/** Declares an operation of the API, and the scope that its caller must have. The name of the method is the `operationId`. */
export const Operation = (
  scope: Scope,
  documentation: Readonly<{ summary: string; description: string }>,
): MethodDecorator => applyDecorators(RequireScope(scope), ApiOperation(documentation));
