import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';

/** The fields that identify a request in log lines and audit entries. */
export interface RequestContext {
  /** The caller's X-Request-Id if it is usable, else a generated id. */
  readonly requestId: string;
  /** From the caller's `traceparent` (W3C Trace Context), 32 hexadecimal digits. */
  readonly traceId?: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

// The id is returned in a header and logged, so it must not contain characters that end a line of either.
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
  const traceId = traceIdOf(request);
  return { requestId: request.id, ...(traceId && { traceId }) };
}

function traceIdOf(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  const given = request.headers['traceparent'];
  return typeof given === 'string' ? TRACEPARENT.exec(given)?.[1] : undefined;
}

/**
 * The number of requests in a context. While there is one, Node 20 calls hooks for every promise and every socket of the process. That
 * costs a tenth or more of the CPU of reading a session, even for requests without a context; so the hooks are removed with the last
 * context.
 */
let inside = 0;

/** Longer than any work for a client that has disconnected, since its request is still processed. */
const HUNG_UP_MS = 60_000;

/** Runs `work` in the context, which counts until `answer`, the response, is written. */
export function enterContext(
  context: RequestContext,
  answer: EventEmitter & { readonly writableFinished: boolean },
  work: () => void,
): void {
  inside += 1;
  answer.once('close', () => {
    if (answer.writableFinished) leave();
    else setTimeout(leave, HUNG_UP_MS).unref();
  });
  storage.run(context, work);
}

/** Runs synchronous `work` in the context, which counts until `work` returns. */
export function runInContext(context: RequestContext, work: () => void): void {
  inside += 1;
  try {
    storage.run(context, work);
  } finally {
    leave();
  }
}

function leave(): void {
  inside -= 1;
  if (inside === 0) storage.disable();
}

/** Runs work outside the request that started it, since it outlasts that request and serves others too. */
export function runOutsideRequest(work: () => void): void {
  storage.exit(work);
}

/** Returns undefined outside a request, such as in the poller or a job. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}
