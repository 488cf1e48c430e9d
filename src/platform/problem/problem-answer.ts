import { PROBLEMS, type FieldError, type Problem, type ProblemCode } from './problem.js';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json; charset=utf-8';

/** RFC 9457. */
export interface ProblemAnswer {
  /** A path on this service, where `problems.controller.ts` explains the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly errors?: readonly FieldError[];
  readonly requestId: string;
}

export function answerOf(problem: Problem, requestId: string): ProblemAnswer {
  const { status, title } = PROBLEMS[problem.code];
  const { errors } = problem.extra;
  return {
    type: `/problems/${problem.code}`,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    ...(errors && { errors }),
    requestId,
  };
}

export function headersOf(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': PROBLEM_MEDIA_TYPE };
  // RFC 9110, section 11.6.1: a 401 names the scheme to use.
  if (problem.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="pv-onboarding"';
  const { retryAfterSeconds, allow } = problem.extra;
  if (retryAfterSeconds !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  if (allow !== undefined) headers['allow'] = allow.join(', ');
  return headers;
}
