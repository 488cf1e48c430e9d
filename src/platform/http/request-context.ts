import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';

/** What a log line or an audit entry says of the request it belongs to. */
export interface RequestContext {
  /** The caller's X-Request-Id where it is usable, else one of ours. */
  readonly requestId: string;
  /** From the caller's `traceparent` (W3C Trace Context), 32 hexadecimal digits. */
  readonly traceId?: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

// The id comes back in a header and goes to logs, so it may hold nothing that could end a line of either.
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
 * How many requests are in a context. While there is one, Node 20 calls hooks for every promise and every socket of the process, which
 * takes a tenth or more of the CPU of reading a session, also of those that are in none; so the hooks go with the last.
 */
let inside = 0;

/** Longer than anything goes on for somebody who has hung up, and whose request is worked on all the same. */
const HUNG_UP_MS = 60_000;

/** Until `answer`, that of the request, is written. */
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

/** For as long as `work`, which is over when it returns. */
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

/** For what goes on after the request that happened to begin it, and is not done for it alone. */
export function runOutsideRequest(work: () => void): void {
  storage.exit(work);
}

/** Undefined outside a request, such as in the poller or a job. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}
