import { hash } from 'node:crypto';
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../platform/http/validation.js';
import { ApiProblems } from '../platform/openapi/api-problems.decorator.js';
import { Problem } from '../platform/problem/problem.js';
import { actorOf } from './scopes.js';

const HEADER = 'Idempotency-Key';
/** Visible ASCII. draft-ietf-httpapi-idempotency-key-header requires quotes; we do not. If quotes are sent, they are part of the key. */
const KEY = /^[\x21-\x7e]{1,255}$/;

export interface RepeatableRequest {
  /** The hash of the caller, the method, the path and the `Idempotency-Key` together. */
  readonly id: string;
  readonly body: unknown;
}

/** Documents that a route takes an `Idempotency-Key`. The route's handler must use `@Repeatable()`. */
export const TakesIdempotencyKey = (): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      name: HEADER,
      required: false,
      description:
        'Chosen by the caller, a new one for each creation. A repetition within 24 hours with the same key and body creates nothing and gets the same response',
      schema: { type: 'string', pattern: KEY.source },
    }),
    ApiProblems('idempotency_key_reused'),
  );

/** Injects a RepeatableRequest, or undefined if there is no `Idempotency-Key`. Throws Problem invalid_request if the key is malformed. */
export const Repeatable = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { headers, principal, method, routeOptions, params, body } = request;
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key))
    throw invalidRequest([{ field: HEADER, message: 'must be 1 to 255 visible ASCII characters' }]);
  const identity = JSON.stringify([actorOf(principal!), method, routeOptions.url, params, key]);
  return { id: hash('sha256', identity, 'base64url'), body } satisfies RepeatableRequest;
});

/** Returns the response. Throws Problem idempotency_key_reused if the same `Idempotency-Key` was sent before with another body. */
export function unlessReused<T extends object>(response: T | 'key_reused'): T {
  if (response !== 'key_reused') return response;
  throw new Problem('idempotency_key_reused', 'The Idempotency-Key was sent before with another body');
}
