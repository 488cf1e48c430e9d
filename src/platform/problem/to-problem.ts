import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable } from './database-unavailable.js';
import { Problem, type ProblemCode } from './problem.js';

/** A failover or a restart of the database usually takes this long; earlier retries only add load. */
const DATABASE_RETRY_AFTER_SECONDS = 5;

const CODE_OF_STATUS = new Map<number, ProblemCode>([
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [413, 'body_too_large'],
  [415, 'unsupported_media_type'],
]);

const DETAIL_OF_CODE = new Map<string, string>([
  ['FST_ERR_BAD_URL', 'The path is not a valid URL: a percent sign in it does not begin an escape of UTF-8'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'The body is not as long as Content-Length says'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'The body must not be longer than 262144 bytes'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'The body must be sent as content-type: application/json'],
  ['FST_ERR_CTP_EMPTY_TYPE', 'The body must be sent as content-type: application/json'],
]);

/**
 * Returns the problem for any thrown error. Returns undefined for a bug: its text may contain anything, so it goes to the log, not to the
 * caller.
 */
export function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  const status = statusOf(error);
  if (status !== undefined && status >= 400 && status < 500) {
    return new Problem(CODE_OF_STATUS.get(status) ?? 'invalid_request', detailOf(error));
  }
  if (isDatabaseUnavailable(error)) {
    return new Problem('database_unavailable', 'Nothing is lost: ask again', {
      retryAfterSeconds: DATABASE_RETRY_AFTER_SECONDS,
    });
  }
  return undefined;
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  // Fastify sets statusCode on its own errors, and on those of a request stream whose client has disconnected.
  const isFromFastify =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number';
  return isFromFastify ? (error.statusCode as number) : undefined;
}

function detailOf(error: unknown): string {
  const cause = error instanceof HttpException && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return DETAIL_OF_CODE.get(code) ?? (cause as Error).message;
}
