import { HTTP_LIMITS } from '../http/http-limits.js';

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

/** All kinds of error responses, by their code. The code is part of the contract; `detail` is for people. */
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
      'The body has a syntax error, is not valid UTF-8, repeats a name within an object, or has more than 64 levels of nesting.',
  },
  ean_rounded: {
    status: 400,
    title: 'An EAN was rounded before it was sent',
    meaning:
      'An EAN is a bare number, has the digits of a rounded number and a wrong check digit. `errors` names each of them. Nothing was done; send EANs as strings.',
  },
  campaign_empty: {
    status: 400,
    title: 'The file has no rows',
    meaning: 'The file of a campaign is empty, or has a header and no rows. Nothing was stored.',
  },
  campaign_columns: {
    status: 400,
    title: 'The columns of the file are not usable',
    meaning:
      'The header of the file lacks `tenantReference` or `ean`, has a column that is not known, the same column twice, or more than 200. Nothing was stored.',
  },
  campaign_unreadable: {
    status: 400,
    title: 'The file cannot be read to its end',
    meaning:
      'The file has a quote that does not end, a byte that is not text, more than one encoding, or ended early. `detail` names the line and the column. Nothing was stored.',
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
  not_from_console: {
    status: 403,
    title: 'The request does not come from the console',
    meaning:
      'A request with the cookie of the console comes from a page of another origin, or would change something without the header `X-Console: 1` or without `Origin`.',
  },
  not_found: {
    status: 404,
    title: 'There is no such resource',
    meaning:
      'Nothing has this id or this path. A user registered at the remote service by other means is not known here.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The resource does not support this method',
    meaning: 'The path exists. The header `Allow` names the supported methods.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    meaning:
      'The headers were not complete within 10 seconds, or the whole request within 30, or a file of a campaign comes with less than 16 kB per second after a minute. Nothing was done; send the request again.',
  },
  tenant_reference_conflict: {
    status: 409,
    title: 'The tenantReference is registered with other EANs',
    meaning:
      'A tenantReference has one live registration. Nothing was sent to the remote service; read the registration `registrationId` to see which EANs it has. If it became a user, `userId` is that user.',
  },
  registration_conflict: {
    status: 409,
    title: 'The registration is not in a status that allows this',
    meaning:
      'The registration is being sent, was changed in the meantime, or has a status that does not allow this; read it under `registrationId`. If `errors` names ids in the body of `resolve`, they belong to another user here.',
  },
  campaign_conflict: {
    status: 409,
    title: 'The campaign is not in a status that allows this',
    meaning:
      'Only a running campaign can be paused, only a paused one resumed, and only one of these cancelled; `detail` names its status.',
  },
  session_closed: {
    status: 409,
    title: 'The session is no longer read',
    meaning: 'The user of the session `sessionId` has been erased, so the session is no longer read.',
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
    meaning: `A body has at most ${HTTP_LIMITS.bodyBytes.toLocaleString('en')} bytes. The file of a campaign has at most \`CAMPAIGN_MAX_BYTES\` and 250,000 rows.`,
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is of a type that is not accepted',
    meaning:
      'Bodies are JSON in UTF-8, sent with `content-type: application/json`. The file of a campaign is CSV or NDJSON, neither compressed nor an Excel workbook.',
  },
  remote_rejected: {
    status: 422,
    title: 'The Solar Curtailment Service rejected the request',
    meaning:
      'The remote service refused the request and did nothing; `detail` has the status. If a registration was refused, `registrationId` names it. The same request would be refused again.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key belongs to another request',
    meaning:
      'In the last 24 hours the same `Idempotency-Key` was sent to this route with another body. Nothing was done; send a new key with a new request.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    meaning:
      'The key makes more than `API_MAX_REQUESTS_PER_SECOND` requests, or has a third of the streams and reads with `wait` open that a replica allows, or uploads two files to it already, or this address makes too many requests without a valid key. Nothing was done; send the request again after `Retry-After` seconds.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    meaning: 'All headers of a request together must be smaller than 16 kB.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong here',
    meaning: 'A fault of this service. It is logged with the `requestId`; give this id to the operator.',
  },
  replica_busy: {
    status: 503,
    title: 'This replica has too many requests open',
    meaning:
      'Streams of events and reads with `wait` may use half of the connections of a replica, and it receives at most 4 files at a time. Send the request again after `Retry-After` seconds, or to another replica.',
  },
  remote_unavailable: {
    status: 503,
    title: 'The Solar Curtailment Service cannot be called now',
    meaning:
      'It did not respond, returned an unusable response, limits our requests, or refuses our credentials. Send the request again after `Retry-After` seconds.',
  },
  database_unavailable: {
    status: 503,
    title: 'The database cannot be reached now',
    meaning: 'The database is restarting or overloaded. Send the request again after `Retry-After` seconds.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

interface ProblemExtra {
  readonly errors?: readonly FieldError[];
  /** The objects that the problem is about. Each id becomes a member of the response. */
  readonly ids?: Readonly<Partial<Record<'registrationId' | 'userId' | 'sessionId', string>>>;
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
