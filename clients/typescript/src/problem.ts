import type { components } from './openapi.js';

type Problem = components['schemas']['ProblemView'];

/** The documented codes, and `unexpected_response` for an error that is not from the service, for example of a proxy. */
export type ProblemCode = Problem['code'] | 'unexpected_response';

interface ProblemDetails {
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly components['schemas']['FieldErrorView'][];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly registrationId?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  readonly problem?: object;
}

/** A response that is an error. Handle it by `code`. */
export class ProblemError extends Error implements ProblemDetails {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly status: number;
  /** A description of the error, for people. */
  readonly detail: string;
  /** The invalid parts of the request. */
  readonly errors: ProblemDetails['errors'];
  /** Identifies this request in the logs of the service. */
  readonly requestId: string | undefined;
  /** The value of the header `Retry-After`: the number of seconds after which to send the request again. */
  readonly retryAfterSeconds: number | undefined;
  /** The registration, user or session that the problem is about. */
  readonly registrationId?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  /** The whole body of the response; undefined for an error that is not from the service. */
  readonly problem?: object;

  constructor(problem: ProblemDetails) {
    super(`${problem.code}: ${problem.detail}`);
    this.code = problem.code;
    this.status = problem.status;
    this.detail = problem.detail;
    this.errors = problem.errors;
    this.requestId = problem.requestId;
    this.retryAfterSeconds = problem.retryAfterSeconds;
    this.registrationId = problem.registrationId;
    this.userId = problem.userId;
    this.sessionId = problem.sessionId;
    this.problem = problem.problem;
  }
}

export async function readProblem(response: Response): Promise<ProblemError> {
  const { status, headers, url } = response;
  const common = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: readSeconds(headers.get('retry-after')),
  };
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') === true;
  const problem = isProblem ? ((await response.json().catch(() => null)) as Partial<Problem> | null) : null;
  // A proxy may send problem documents of its own.
  if (problem?.code === undefined || problem.detail === undefined) {
    const detail = `${url} responded ${status} without a problem document; check that baseUrl leads to the service`;
    return new ProblemError({ ...common, code: 'unexpected_response', detail, errors: [] });
  }
  const { code, detail, errors = [] } = problem;
  return new ProblemError({ ...problem, code, detail, errors, ...common, problem });
}

/**
 * Returns whether the same request may succeed later: after a 408, 429 or 5xx, or after a network error, which is any error without a
 * response.
 */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return true;
  return error.status >= 500 || error.status === 429 || error.status === 408;
}

function readSeconds(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
