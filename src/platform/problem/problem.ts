/** A part of a request that was at fault; `field` is a JSON path such as `gridLocations[0].ean`, or a parameter's name. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

/** Every answer we give that is not a success. `code` is a contract; `detail` is for people. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  unauthenticated: { status: 401, title: 'An API key is needed' },
  forbidden: { status: 403, title: 'The API key lacks a scope' },
  not_found: { status: 404, title: 'There is no such resource' },
  method_not_allowed: { status: 405, title: 'The resource does not take this method' },
  not_acceptable: { status: 406, title: 'The answer has no form that the request accepts' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  tenant_reference_conflict: { status: 409, title: 'The tenantReference is registered with other EANs' },
  registration_conflict: { status: 409, title: 'The registration is not in a status that allows this' },
  session_closed: { status: 409, title: 'The session is no longer watched' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body is not application/json' },
  remote_rejected: { status: 422, title: 'The Solar Curtailment Service rejected the request' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong here' },
  remote_unavailable: { status: 503, title: 'The Solar Curtailment Service cannot be asked now' },
  database_unavailable: { status: 503, title: 'The database cannot be reached now' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface ProblemExtra {
  readonly errors?: readonly FieldError[];
  /** Seconds until asking again makes sense; becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** The methods that a resource does take; becomes the Allow header of a 405. */
  readonly allow?: readonly string[];
}

/** An answer that is not a success, thrown by whoever finds it out and written by the one filter. */
export class Problem extends Error {
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly extra: ProblemExtra = {},
  ) {
    super(`${code}: ${detail}`);
    this.status = PROBLEMS[code].status;
  }
}
