import { HTTP_LIMITS } from '../http/http-limits.js';

/** An invalid part of a request; `field` is a JSON path such as `gridLocations[0].ean`, or the name of a parameter. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** `meaning`: when the problem occurs and what the caller should do; docs/api.md has the same text. */
const kind = (status: number, title: string, meaning: string) => ({ status, title, meaning });

/** All kinds of error responses, by their code. The code is part of the contract; `detail` is for people. */
export const PROBLEMS = {
  invalid_request: kind(
    400,
    'The request is not valid',
    'A field or parameter is missing, unknown or has a value that it cannot have. `errors` names each of them.',
  ),
  invalid_json: kind(
    400,
    'The body is not valid JSON',
    'The body has a syntax error, is not valid UTF-8, repeats a name within an object, or has more than 64 levels of nesting, 1,000 names in an object or 5,000 names and elements.',
  ),
  ean_rounded: kind(
    400,
    'An EAN was rounded before it was sent',
    'An EAN has the digits of a rounded number and a wrong check digit. `errors` names each of them. Nothing was done; send all digits as strings, or `eanConfirmed: true` if they are right.',
  ),
  campaign_empty: kind(
    400,
    'The file has no rows',
    'The file of a campaign is empty, or has a header and no rows. Nothing was stored.',
  ),
  campaign_columns: kind(
    400,
    'The columns of the file are not usable',
    'The header of the file lacks `tenantReference` or `ean`, has a column that is not known, the same column twice, or more than 200. Nothing was stored.',
  ),
  campaign_unreadable: kind(
    400,
    'The file cannot be read to its end',
    'The file has a quote that does not end, a byte that is not text, more than one encoding, or ended early. `detail` names the line and the column. Nothing was stored.',
  ),
  campaign_rounded: kind(
    400,
    'A program has rounded the numbers of the file',
    'Most EANs of the file, or most of its references of 16 digits and more, look rounded. `detail` names the first lines and the programs that write numbers so. Nothing was stored.',
  ),
  unauthenticated: kind(
    401,
    'An API key is needed',
    'There is no key in `Authorization: Bearer`, or it is malformed, unknown or revoked.',
  ),
  forbidden: kind(
    403,
    'The API key lacks a scope',
    'The key is valid, but was created without the scope that `detail` names.',
  ),
  not_from_console: kind(
    403,
    'The request does not come from the console',
    'A request with the cookie of the console comes from a page of another origin, or would change something without the header `X-Console: 1` or without `Origin`.',
  ),
  not_found: kind(
    404,
    'There is no such resource',
    'Nothing has this id or this path. A user registered at the remote service by other means is not known here.',
  ),
  method_not_allowed: kind(
    405,
    'The resource does not support this method',
    'The path exists. The header `Allow` names the supported methods.',
  ),
  request_timeout: kind(
    408,
    'The request took too long to arrive',
    'The headers were not complete within 10 seconds, or the whole request within 30, or a file of a campaign comes with less than 16 kB per second after a minute. Nothing was done; send the request again.',
  ),
  tenant_reference_conflict: kind(
    409,
    'The tenantReference is registered with other EANs',
    'A tenantReference has one live registration. Nothing was sent to the remote service; read the registration `registrationId` to see which EANs it has. If it became a user, `userId` is that user.',
  ),
  registration_conflict: kind(
    409,
    'The registration is not in a status that allows this',
    'The registration is being sent, was changed in the meantime, or has a status that does not allow this; read it under `registrationId`. If `errors` names ids in the body of `resolve`, they belong to another user in our database.',
  ),
  campaign_conflict: kind(
    409,
    'The campaign is not in a status that allows this',
    'Only a running campaign can be paused, only a paused one resumed, only one of these cancelled, and only one that has ended deleted; `detail` names its status.',
  ),
  invitation_conflict: kind(
    409,
    'The invitation is not in a state that allows this',
    'The invitation is over, or its owner has nothing to do at the moment; `detail` says which. Only `expiresAt` makes one that has expired valid again, unless its location has another.',
  ),
  stall_over: kind(
    409,
    'It is no longer stalled',
    'It was stalled before and is not any more, so there is nothing to work on; `detail` says since when. Read the list again.',
  ),
  session_closed: kind(
    409,
    'The session is no longer read',
    'The user of the session `sessionId` has been erased, so the session is no longer read.',
  ),
  webhook_endpoint_limit: kind(
    409,
    'There are too many webhook endpoints',
    'A deployment has at most 40. Delete those that are not needed; one endpoint takes events of every type.',
  ),
  body_too_large: kind(
    413,
    'The body is too large',
    `A body has at most ${HTTP_LIMITS.bodyBytes.toLocaleString('en')} bytes. The file of a campaign has at most \`CAMPAIGN_MAX_BYTES\` and 250,000 rows.`,
  ),
  unsupported_media_type: kind(
    415,
    'The body is of a type that is not accepted',
    'Bodies are JSON in UTF-8, not compressed, sent with `content-type: application/json`. The file of a campaign is CSV or NDJSON, neither compressed nor an Excel workbook.',
  ),
  remote_rejected: kind(
    422,
    'The Solar Curtailment Service rejected the request',
    'The remote service refused the request and did nothing; `detail` has the status. If a registration was refused, `registrationId` names it. The same request would be refused again.',
  ),
  idempotency_key_reused: kind(
    422,
    'The Idempotency-Key belongs to another request',
    'In the last 24 hours the same `Idempotency-Key` was sent to this route with another body, or its person has been erased since. Nothing was done; send a new key with a new request.',
  ),
  too_many_requests: kind(
    429,
    'Too many requests',
    'The key makes more than `API_MAX_REQUESTS_PER_SECOND` requests, or has a third of the streams and reads with `wait` open that a replica allows, or uploads or downloads two files, or tests a webhook endpoint to which all requests that it may have are in flight, or this address makes too many requests without a valid key. Nothing was done; send the request again after `Retry-After` seconds.',
  ),
  headers_too_large: kind(
    431,
    'The headers are too large',
    'All headers of a request together must be smaller than 16 kB.',
  ),
  internal_error: kind(
    500,
    'Something went wrong here',
    'A fault of this service. It is logged with the `requestId`; give this id to the operator.',
  ),
  remote_credentials_rejected: kind(
    502,
    'The Solar Curtailment Service does not accept our credentials',
    'A call passed on by `/scs/{path}` was refused with a 401: the fault is in our credentials, not in the key of the caller. Nothing was done.',
  ),
  remote_response_lost: kind(
    502,
    'The response of the Solar Curtailment Service was lost',
    'A call passed on by `/scs/{path}` was sent once and has no usable response, so it may have had its effect. `detail` says what happened. It is not sent again; find out whether it had its effect before you do.',
  ),
  replica_busy: kind(
    503,
    'This replica has too many requests open',
    'Streams of events and reads with `wait` may use half of the connections of a replica, and it receives at most 4 files at a time. Send the request again after `Retry-After` seconds, or to another replica.',
  ),
  remote_unavailable: kind(
    503,
    'The Solar Curtailment Service cannot be called now',
    'It did not respond, returned an unusable response, limits our requests, or refuses our credentials. Send the request again after `Retry-After` seconds.',
  ),
  database_unavailable: kind(
    503,
    'The database cannot be reached now',
    'The database is restarting or overloaded. Send the request again after `Retry-After` seconds.',
  ),
};

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

export const nothingHere = (): Problem => new Problem('not_found', 'There is nothing at this path');

/** Returns `row`. If there is no row, throws Problem not_found, which names `what`. */
export function found<T>(row: T | null | undefined, what: string): T {
  if (row === null || row === undefined) throw new Problem('not_found', `There is no ${what}`);
  return row;
}
