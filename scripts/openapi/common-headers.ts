import type { OpenAPIObject } from '@nestjs/swagger';
import { HEADER, KEY } from '../../src/idempotency/repeatable-request.js';
import { header, TEXT } from '../../src/platform/openapi/response-headers.js';
import { operationsOf, type Operation } from './operations.js';

export const WWW_AUTHENTICATE = { 'WWW-Authenticate': header('The scheme to use: `Bearer`', TEXT) };

const REQUEST_ID = {
  'X-Request-Id': header(
    'The X-Request-Id of the request, or a generated one. Log lines about the request have it too',
    TEXT,
  ),
};

/** The headers of responses of operations that need a key; `access/rate-limit.ts` writes them. */
const RATE_LIMITS = {
  RateLimit: {
    ...header('Requests left (`r`) of the named quota, and seconds (`t`) until all are available', TEXT),
    example: '"default";r=2999;t=1',
  },
  'RateLimit-Policy': {
    ...header('The quota (`q`) per window of `w` seconds, as in draft-ietf-httpapi-ratelimit-headers', TEXT),
    example: '"default";q=3000;w=10',
  },
};

const IDEMPOTENCY_KEY = {
  name: HEADER,
  in: 'header' as const,
  required: false,
  description:
    'Chosen by the caller, a new one for each request that is meant. A repetition within 24 hours with the same key and body does nothing and gets the same response',
  schema: { type: 'string', pattern: KEY.source },
};

/** Declares the `Idempotency-Key`, which `RepeatedRequests` takes with every POST of the API that changes something. */
export function describeIdempotencyKey({ paths }: OpenAPIObject): void {
  for (const { post } of Object.values(paths) as { post?: Operation }[]) {
    if (post?.security === undefined || post['x-safe']) continue;
    post.parameters = [...(post.parameters ?? []), IDEMPOTENCY_KEY];
    post['x-problem-codes'] = [...(post['x-problem-codes'] ?? []), 'idempotency_key_reused'];
  }
}

/** Declares each common header once, and references it from the responses that have it. */
export function describeHeaders(document: OpenAPIObject): void {
  document.components = { ...document.components, headers: { ...REQUEST_ID, ...RATE_LIMITS } };
  for (const { security = [], responses } of operationsOf(document)) {
    for (const [status, response] of Object.entries(responses)) {
      // The other error responses are shared with operations that need no key, so they get no rate-limit headers.
      const isCounted = security.length > 0 && (status < '400' || status === '401' || status === '429');
      const names = Object.keys({ ...REQUEST_ID, ...(isCounted && RATE_LIMITS) });
      const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
      response.headers = { ...response.headers, ...(Object.fromEntries(references) as object) };
    }
  }
}
