import { HttpException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { HTTP_LIMITS } from '../http/http-limits.js';
import { isDatabaseUnavailable } from './database-unavailable.js';
import type { ProblemPages } from './problem-pages.js';
import { Problem, PROBLEMS, type ProblemCode } from './problem.js';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json; charset=utf-8';
/** A failover or a restart of the database usually takes about 5 s. Earlier retries would only add load. */
const DATABASE_RETRY_AFTER_SECONDS = 5;

const CODE_OF_STATUS = new Map<number, ProblemCode>([
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [413, 'body_too_large'],
  [415, 'unsupported_media_type'],
]);

const WRONG_TYPE =
  'The body must be sent as content-type: application/json; the file of a campaign as text/csv or application/x-ndjson';

const DETAIL_OF_CODE = new Map<unknown, string>([
  ['FST_ERR_BAD_URL', 'The path is not a valid URL: a percent sign does not begin a valid UTF-8 escape'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'The length of the body differs from Content-Length'],
  ['FST_ERR_CTP_BODY_TOO_LARGE', `The body must not be longer than ${HTTP_LIMITS.bodyBytes} bytes`],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', WRONG_TYPE],
  ['FST_ERR_CTP_EMPTY_TYPE', WRONG_TYPE],
]);

/** Returns the problem for a thrown error; undefined for a bug, whose text may contain anything and belongs in the log only. */
export function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  const status = statusOf(error);
  if (status !== undefined && status >= 400 && status < 500)
    return new Problem(CODE_OF_STATUS.get(status) ?? 'invalid_request', detailOf(error as Error));
  return isDatabaseUnavailable(error) ? databaseUnavailable() : undefined;
}

export const databaseUnavailable = (): Problem =>
  new Problem('database_unavailable', 'Nothing is lost: send the request again', {
    retryAfterSeconds: DATABASE_RETRY_AFTER_SECONDS,
  });

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  // Fastify sets statusCode on its own errors. It also sets it on the errors of a request stream whose client has disconnected.
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number')
    return error.statusCode;
  return undefined;
}

function detailOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  return DETAIL_OF_CODE.get((cause as NodeJS.ErrnoException).code) ?? cause.message;
}

/** Sends a problem: as a page below the paths that people open, else as JSON. */
export function sendProblem(problem: Problem, reply: FastifyReply, pages: ProblemPages, publicUrl?: string) {
  const { id, url, headers: received } = reply.request;
  const page = pages.find(problem, url, received);
  const headers: Record<string, string> = page ? { ...page.headers } : { 'content-type': PROBLEM_MEDIA_TYPE };
  // RFC 9110, section 11.6.1: a 401 names the scheme to use.
  if (problem.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="pv-onboarding"';
  const { retryAfterSeconds, allow } = problem.extra;
  if (retryAfterSeconds !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  if (allow !== undefined) headers['allow'] = allow.join(', ');
  void reply
    .status(problem.status)
    .headers(headers)
    .send(page?.body ?? bodyOf(problem, id, publicUrl));
}

export function bodyOf({ code, detail, extra }: Problem, requestId: string, publicUrl = '') {
  const { status, title } = PROBLEMS[code];
  const { errors, ids } = extra;
  const type = `${publicUrl}/problems/${code}`;
  return { type, title, status, detail, code, ...ids, ...(errors && { errors }), requestId };
}
