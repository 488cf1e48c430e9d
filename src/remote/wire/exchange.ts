import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import type { Dispatcher } from 'undici';
import { certificateFault, clientCertificateFault } from '../../platform/crypto/certificate-fault.js';
import { textOfBody } from '../../platform/http-client/body-text.js';
import { HandshakeAlert } from '../../platform/http-client/connections.js';
import { TunnelError } from '../../platform/http-client/tunnel.js';
import { describeConnectionError } from '../../platform/http-client/response-limits.js';
import { readRetryAfter, respondedAt } from '../../platform/http-client/retry-after.rules.js';
import { redact } from '../../platform/redaction/redaction.js';
import {
  isForeignRefusal,
  isGivenUp,
  isObjectLike,
  type Exchanged,
  type RemoteResponse,
  type Sent,
} from '../outcome.rules.js';
import { describeResponse } from './read-response.js';

/** The largest body that is read. A session with 10,000 inverters has a body of 0.5 MB. */
const MAX_BODY_BYTES = 1024 * 1024;
const TOO_LARGE = `the response is larger than ${MAX_BODY_BYTES} bytes`;

/** The error of an exchange without a response. Contains no request configuration, so it cannot leak a credential. */
export class ExchangeError extends Error {
  /** False only if it is certain that no byte of the request was written, or that the other end refused the connection instead of reading it. */
  readonly maybeSent: boolean;

  constructor(
    readonly fault: 'deadline' | 'cancelled' | 'connection' | 'handshake' | 'proxy',
    /** Whether undici began to write the request. */
    isWritten: boolean,
    reason: string,
  ) {
    super(reason);
    this.maybeSent = isWritten && fault !== 'handshake';
  }
}

/** The `data` of an axios response. */
export type ExchangeBody = Pick<RemoteResponse, 'body' | 'bodyFault'>;

/** One request, which is sent at most once, and what its loss means. */
export abstract class OneExchange {
  /** Undefined until undici writes the request. */
  protected abort: ((error: Error) => void) | undefined;
  protected settled = false;
  protected status = 0;

  /** Called by undici right before it writes the request. */
  onConnect(abort: (error?: Error) => void): void {
    // Do not send if the exchange settled while waiting for a connection, or if undici retries after losing the connection.
    if (this.settled) return abort(new Error('settled'));
    if (this.abort) {
      this.fail('connection', 'connection lost');
      return abort(new Error('not repeated'));
    }
    this.abort = abort;
  }

  /** Calls `expire` after `ms`, but first reads what has arrived: if the process was stopped for longer, the timer fires before that. */
  protected expireIn(ms: number | undefined): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.expire()), ms);
  }

  /** Fails by an error of undici. A response that was cut off is a lost connection, even if its status was 200. */
  protected failBy(error: Error & { readonly code?: string }): void {
    if (error instanceof TunnelError && error.isOfProxy) return this.fail('proxy', error.message);
    const refusal = clientCertificateFault(error.code, 'SCS_CLIENT_CERT_FILE');
    if (refusal !== undefined && error instanceof HandshakeAlert) return this.fail('handshake', refusal);
    const text = refusal ?? certificateFault(error.code, 'SCS_CA_FILE') ?? describeConnectionError(error);
    this.fail('connection', this.status === 0 ? text : `response cut off: ${text}`);
  }

  protected abstract fail(fault: ExchangeError['fault'], reason: string): void;
  /** Ends the exchange at its deadline. */
  protected abstract expire(): void;
}

/** One request and its response. Settles once. Ignores later callbacks of undici. */
export class Exchange extends OneExchange implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = () => this.fail('cancelled', 'cancelled');
  private headers: Record<string, string> = {};
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly config: InternalAxiosRequestConfig,
    private readonly resolve: (response: AxiosResponse) => void,
    private readonly reject: (error: ExchangeError) => void,
    private readonly release: (reusable: boolean) => void,
  ) {
    super();
    this.timer = this.expireIn(config.timeout);
    config.signal?.addEventListener?.('abort', this.onAbort);
  }

  onHeaders(status: number, rawHeaders: Buffer[]): boolean {
    // Ignore a 1xx: the final response follows.
    if (status < 200) return true;
    this.status = status;
    this.headers = pickHeaders(rawHeaders);
    if (Number(this.headers['content-length']) > MAX_BODY_BYTES) this.respondWithout(TOO_LARGE);
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > MAX_BODY_BYTES) this.respondWithout(TOO_LARGE);
    else this.chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    this.respond(this.readBody(), true);
  }

  onError(error: Error): void {
    if (!this.respondIfWhole()) this.failBy(error);
  }

  // Decodes the whole body at once: a character may be split between two chunks.
  private readBody(): ExchangeBody {
    const whole = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.size);
    try {
      return { body: textOfBody(whole, isObjectLike, MAX_BODY_BYTES) };
    } catch {
      return { body: '', bodyFault: TOO_LARGE };
    }
  }

  /** Settles with a 2xx that did not end, if its body is a whole JSON object: a part of an object is never an object. */
  private respondIfWhole(): boolean {
    if (this.settled || this.status < 200 || this.status >= 300 || this.size === 0) return false;
    const data = this.readBody();
    if (!isObject(data.body)) return false;
    this.respond(data, false);
    return true;
  }

  protected expire(): void {
    const { abort } = this;
    if (this.respondIfWhole()) abort?.(new Error('the response did not end'));
    else this.fail('deadline', `no response within ${this.config.timeout} ms`);
  }

  private respond(data: ExchangeBody, reusable: boolean): void {
    if (!this.settle()) return;
    this.release(reusable);
    const { status, headers, config } = this;
    this.resolve({ status, statusText: '', headers, config, data });
  }

  /** Settles with the status but without a body. Closes the connection: to reuse it, the rest of the body would have to be read. */
  private respondWithout(bodyFault: string): void {
    this.respond({ body: '', bodyFault }, false);
    this.abort?.(new Error(bodyFault));
  }

  protected fail(fault: ExchangeError['fault'], reason: string): void {
    const { abort } = this;
    if (!this.settle()) return;
    this.reject(new ExchangeError(fault, abort !== undefined, reason));
    abort?.(new Error(reason));
    this.release(false);
  }

  private settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.timer);
    this.config.signal?.removeEventListener?.('abort', this.onAbort);
    return true;
  }
}

function isObject(body: string): boolean {
  try {
    return isObjectLike(body) && typeof JSON.parse(body.replace(/^\ufeff/, '')) === 'object';
  } catch {
    return false;
  }
}

const PICKED = new Set(['content-length', 'content-encoding', 'content-type', 'retry-after', 'date']);

/** Returns the headers that we use. Names and values alternate in `raw`. */
function pickHeaders(raw: readonly Buffer[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toString('latin1').toLowerCase();
    if (PICKED.has(name)) picked[name] = raw[i + 1]!.toString('latin1');
  }
  return picked;
}

export function classifyResponse(response: AxiosResponse<ExchangeBody>): Exchanged {
  const { status, headers, data } = response;
  const {
    'retry-after': retryAfter,
    'content-type': contentType,
    'content-encoding': encoding,
    date,
  } = headers as Readonly<Record<string, string | undefined>>;
  const retryAfterMs = readRetryAfter(retryAfter, respondedAt(date, new Date()));
  const received: RemoteResponse = {
    status,
    retryAfterMs,
    // Shown only if the response may come from something in front of the service.
    ...(contentType !== undefined &&
      !isObjectLike(data.body) && { contentType: [contentType, encoding].filter(Boolean).join(', ') }),
    ...data,
  };
  const sent: Sent = { kind: 'response', response: received };
  const fault = `status ${status}`;
  if (status === 429 || status === 503)
    return { sent, result: status === 429 ? 'limited' : 'unavailable', fault, quietMs: retryAfterMs };
  // A firewall or a login page in front of the service responds with its own page, or redirects to it.
  if (status < 300 && !isObjectLike(data.body))
    return { sent, result: 'failed', fault: `unreadable: ${describeResponse(received)}` };
  if (isForeignRefusal(received)) {
    const fault = `something before the remote service answers: ${describeResponse(received)}`;
    return { sent, result: 'foreign', fault };
  }
  const isUnservedPath = status === 501 && response.config.method === 'get';
  const hasFailed = status < 400 ? status >= 300 : isGivenUp(status) || (status >= 500 && !isUnservedPath);
  if (hasFailed) return { sent, result: 'failed', fault };
  return { sent, result: 'succeeded', ...(isRefusal(status) && { fault }) };
}

/** Returns whether the service responds (a success for the breaker), but refuses the call or its path (an error in the status). */
export const isRefusal = (status: number): boolean => [401, 403, 405, 501].includes(status);

export function classifyFailure(error: unknown): Exchanged {
  // Replace an error of axios itself: it contains the credentials.
  const known = error instanceof ExchangeError ? error : new ExchangeError('cancelled', true, 'cancelled');
  const reason = redact(known.message);
  const sent: Sent = known.maybeSent ? { kind: 'ambiguous', reason } : notSent(known.fault, reason);
  if (known.fault === 'cancelled') return { sent, result: 'unknown' };
  return { sent, result: known.fault === 'deadline' ? 'timed_out' : 'failed', fault: reason };
}

function notSent(fault: ExchangeError['fault'], detail: string): Sent {
  if (fault === 'proxy') return { kind: 'not_sent', reason: 'proxy_fails', detail };
  return { kind: 'not_sent', reason: fault === 'cancelled' ? 'stopping' : 'unreachable' };
}
