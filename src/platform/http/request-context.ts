import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The fields that identify a request in log lines and audit entries. */
export interface RequestContext {
  /** The caller's X-Request-Id if it is usable, else a generated id. */
  readonly requestId: string;
  /** From the caller's `traceparent` (W3C Trace Context), 32 hexadecimal digits. */
  readonly traceId?: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

// Printable ASCII, because the id is returned in a header and logged.
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
// An all-zero trace or parent id is invalid and must be ignored (W3C Trace Context, section 3.2.2).
const TRACEPARENT = /^[0-9a-e][0-9a-f]-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-|$)/;

export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

export function contextOf(
  request: { readonly id: string } & Pick<IncomingMessage, 'headers'>,
): RequestContext {
  const { traceparent } = request.headers;
  const traceId = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
  return { requestId: request.id, ...(traceId && { traceId }) };
}

/** Runs `work`, and everything that it starts, in the context. */
export const runInContext = (context: RequestContext, work: () => void): void => storage.run(context, work);

/** Returns undefined outside a request, such as in the poller or a job. */
export const currentRequest = (): RequestContext | undefined => storage.getStore();
