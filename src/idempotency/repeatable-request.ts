import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { invalidRequest, isPlainObject } from '../platform/http/validation.js';
import { currentExecution, type Execution } from '../access/execution.js';
import { actorOf } from '../access/scopes.js';
import { LosslessNumber } from '../platform/json/lossless.js';

export const HEADER = 'Idempotency-Key';
/** Visible ASCII. draft-ietf-httpapi-idempotency-key-header requires quotes; we do not. If quotes are sent, they are part of the key. */
export const KEY = /^[\x21-\x7e]{1,255}$/;

export interface RepeatableRequest {
  /** The hash of the caller, the method, the path and the `Idempotency-Key` together. */
  readonly id: string;
  /** The ids in the path. */
  readonly params: unknown;
  readonly body: unknown;
}

/** What is stored of a response. `location`: without the path of `PUBLIC_URL`. */
export interface StoredResponse {
  readonly status: number;
  readonly location?: string;
  readonly body: unknown;
}

/** An execution under an `Idempotency-Key`. */
export interface KeyedExecution extends Execution {
  readonly request: RepeatableRequest;
  /** Undefined once the outcome is stored, and if nothing is claimed because the body is still to be read. */
  leaseToken?: string | undefined;
  result?: object | undefined;
  /** The stored response, in the place of an execution. */
  readonly response?: StoredResponse;
  /** Ends the lease. Undefined once it has ended. */
  end?: (() => void) | undefined;
}

/** Returns the execution of which the caller is a part; undefined if the request has no `Idempotency-Key`. */
export const currentKeyed = (): KeyedExecution | undefined =>
  currentExecution() as KeyedExecution | undefined;

/** Returns undefined if the request has no `Idempotency-Key`. Throws Problem invalid_request if the key is malformed. */
export function repeatableRequest(request: FastifyRequest): RepeatableRequest | undefined {
  const { headers, principal, method, routeOptions, params, body } = request;
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key))
    throw invalidRequest([{ field: HEADER, message: 'must be 1 to 255 visible ASCII characters' }]);
  const identity = JSON.stringify([actorOf(principal!), method, routeOptions.url, params, key]);
  return { id: hash('sha256', identity, 'base64url'), params, body };
}

/**
 * Returns a hash of the body that does not depend on the order of its fields, but on every digit of its numbers. No body is the same as
 * `{}`. The body may have personal data, and only has to be recognised.
 */
export const hashOfBody = (body: unknown): string =>
  hash('sha256', JSON.stringify(sorted(body ?? {})), 'base64url');

function sorted(value: unknown): unknown {
  if (value instanceof LosslessNumber) return value.text;
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]));
}

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;

/** Returns the ids in the path and the outcome of a request. An erasure of one of them empties the stored response. */
export const subjectsOf = ({ params }: RepeatableRequest, outcome: object): string[] => [
  ...new Set(JSON.stringify([params, outcome]).toLowerCase().match(UUID)),
];
