import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readTraceparent } from '../tracing/tracing.js';

type RequestContext = ReturnType<typeof contextOf>;

const storage = new AsyncLocalStorage<RequestContext>();

// Accepts only printable ASCII, because the id is returned in a header and logged.
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Returns the caller's X-Request-Id if it is usable, else a new id. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** Returns the fields that identify a request in log lines and audit entries. The trace comes from the caller's `traceparent`. */
export function contextOf({ id, headers }: { readonly id: string } & Pick<IncomingMessage, 'headers'>) {
  const traceId = readTraceparent(headers.traceparent)?.traceId;
  return { requestId: id, ...(traceId && { traceId }) };
}

/** Runs `work`, and everything that it starts, in the context. */
export const runInContext = (context: RequestContext, work: () => void): void => storage.run(context, work);

/** Runs `work` without the context of the current request. For work that also serves other requests. */
export const runOutsideRequest = <T>(work: () => T): T => storage.exit(work);

/** Returns the context of the current request; undefined outside a request, such as in the poller. */
export const currentRequest = (): RequestContext | undefined => storage.getStore();
