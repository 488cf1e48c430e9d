/** An invalid part of a request; `field` is a JSON path such as `gridLocations[0].ean`, or the name of a parameter. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** When the problem occurs and what the caller should do; docs/problems.md has the same text. */
  readonly meaning: string;
}

/** Every error response of ours. `code` is part of the contract; `detail` is for people. */
export const PROBLEMS = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    meaning:
      'A field or parameter is missing, unknown or has a value that it cannot have. `errors` names each of them.',
  },
  invalid_json: {
    status: 400,
    title: 'The body is not valid JSON',
    meaning:
      'Bad syntax, bytes that are no UTF-8, a name that stands twice in an object, or more than 64 levels of nesting.',
  },
  unauthenticated: {
    status: 401,
    title: 'An API key is needed',
    meaning: 'There is no key in `Authorization: Bearer`, or it is malformed, unknown or revoked.',
  },
  forbidden: {
    status: 403,
    title: 'The API key lacks a scope',
    meaning: 'The key is valid, but was created without the scope that `detail` names.',
  },
  not_found: {
    status: 404,
    title: 'There is no such resource',
    meaning:
      'Nothing has this id or this path. A user registered at the remote service by other means is not known here.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The resource does not take this method',
    meaning: 'The path exists; the header `Allow` names the methods it takes.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    meaning:
      'Its headers were not complete within 10 seconds, or all of it within 30. Nothing was done; send it again.',
  },
  tenant_reference_conflict: {
    status: 409,
    title: 'The tenantReference is registered with other EANs',
    meaning:
      'A user has one registration. Nothing was sent to the remote service; read the user to see which EANs it has.',
  },
  registration_conflict: {
    status: 409,
    title: 'The registration is not in a status that allows this',
    meaning:
      'Read the registration: it was decided meanwhile, or never needed a decision. Where `errors` names ids of `resolve`, they belong to another user here.',
  },
  session_closed: {
    status: 409,
    title: 'The session is no longer read',
    meaning: 'The user of the session has been erased, so it is not read any more.',
  },
  webhook_endpoint_limit: {
    status: 409,
    title: 'There are too many webhook endpoints',
    meaning:
      'A deployment has at most 40. Delete those that are not needed; one endpoint takes events of every type.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    meaning: 'A body has at most 262,144 bytes.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not application/json',
    meaning: 'Bodies are JSON in UTF-8, sent with `content-type: application/json`.',
  },
  remote_rejected: {
    status: 422,
    title: 'The Solar Curtailment Service rejected the request',
    meaning:
      'The remote service refused it and did nothing; `detail` says with which status. Sending the same again will not help.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    meaning:
      'The key makes more than `API_MAX_REQUESTS_PER_SECOND`, or holds a third of the streams and reads with `wait` that a replica may have open, or this address makes too many without a valid key. Nothing was done; ask again after `Retry-After` seconds.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    meaning: 'All headers of a request together have less than 16 kB.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong here',
    meaning: 'A fault of this service. It is logged under `requestId`; tell the operator that id.',
  },
  replica_busy: {
    status: 503,
    title: 'This replica holds as many requests open as it may',
    meaning:
      'Streams of events and reads with `wait` may take half of its connections. Ask again after `Retry-After` seconds, or another replica.',
  },
  remote_unavailable: {
    status: 503,
    title: 'The Solar Curtailment Service cannot be asked now',
    meaning:
      'It did not answer, answered with what cannot be used, asks for patience, or refuses our credentials. Ask again after `Retry-After` seconds.',
  },
  database_unavailable: {
    status: 503,
    title: 'The database cannot be reached now',
    meaning: 'It is restarting or overloaded. Ask again after `Retry-After` seconds.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface ProblemExtra {
  readonly errors?: readonly FieldError[];
  /** Seconds until a retry makes sense; becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** The methods that the resource supports; becomes the Allow header of a 405. */
  readonly allow?: readonly string[];
}

/** An error response. The code that detects the error throws it; ProblemFilter writes it. */
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
