import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { MAX_PASSED_BYTES } from '../platform/http/http-limits.js';
import { readRetryAfter, respondedAt } from '../platform/http-client/retry-after.rules.js';
import { Problem } from '../platform/problem/problem.js';
import { redact } from '../platform/redaction/redaction.js';
import { withoutSecrets } from '../platform/redaction/secrets.js';
import {
  type Exchanged,
  isGivenUp,
  type PassedLimits,
  type RemoteResponse,
} from '../remote/outcome.rules.js';
import type { ArrivingBody } from './passed-body.js';
import { classifyFailure, ExchangeError, isRefusal, OneExchange } from '../remote/wire/exchange.js';

/** How many bytes of a response are held for a caller that reads slowly. */
const HELD_BYTES = 64 * 1024;

export interface PassedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/**
 * One call of a caller and its response, whose bodies are passed on as they arrive. Settles once, when the response has ended or failed.
 * A response with a 401 is not passed on: the token is ours.
 */
export class PassedExchange extends OneExchange implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = () => this.fail('cancelled', 'the caller has left');
  private headers: Record<string, string> = {};
  private size = 0;
  private body: Readable | undefined;
  /** Whether the caller does not read the response as fast as it arrives. */
  private isHeldUp = false;
  private resume = (): void => {};

  /** `respond` takes a response of any status but 401. If the body of the response is destroyed before it ends, the call is cancelled. */
  constructor(
    private readonly sentBody: ArrivingBody | undefined,
    private readonly respond: (response: PassedResponse) => void,
    private readonly limits: PassedLimits,
  ) {
    super();
    this.timer = this.expireIn(limits.timeoutMs);
    limits.signal?.addEventListener('abort', this.onAbort);
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void): boolean {
    if (status < 200 || this.settled) return true;
    this.status = status;
    this.headers = readHeaders(rawHeaders);
    if (status === 401) {
      this.settle(this.outcome(), false);
      this.abort?.(new Error('not passed on'));
    } else if (Number(this.headers['content-length']) > MAX_PASSED_BYTES) this.refuse();
    this.resume = resume;
    return !this.settled;
  }

  onData(chunk: Buffer): boolean {
    if (this.settled) return true;
    this.size += chunk.length;
    if (this.size > MAX_PASSED_BYTES) {
      this.refuse();
      return false;
    }
    this.isHeldUp = !this.pass().push(chunk);
    return !this.isHeldUp;
  }

  onComplete(): void {
    if (this.settled) return;
    const body = this.pass();
    this.settle(this.outcome(), true);
    body.push(null);
  }

  onError(error: Error): void {
    if (this.sentBody?.fault === undefined) this.failBy(error);
    else this.fail('cancelled', 'the body has not arrived as a whole');
  }

  /** Passes the head of the response on, once something follows it: until then, a loss is a response of its own. Returns the body. */
  private pass(): Readable {
    if (this.body !== undefined) return this.body;
    const body = new Readable({
      highWaterMark: HELD_BYTES,
      read: () => {
        if (!this.isHeldUp) return;
        this.isHeldUp = false;
        this.resume();
      },
    });
    // Without this listener, an error that nobody waits for would end the process.
    body.on('error', () => {});
    this.body = body;
    const { status, headers } = this;
    this.respond({ status, headers, body });
    return body;
  }

  private refuse(): void {
    this.fail('cancelled', `the response is larger than ${MAX_PASSED_BYTES} bytes`);
  }

  protected expire(): void {
    // A caller that sends or reads slowly would otherwise make the service look slow.
    const isOfCaller = this.isHeldUp || this.sentBody?.isArriving === true;
    this.fail(isOfCaller ? 'cancelled' : 'deadline', `no whole response within ${this.limits.timeoutMs} ms`);
  }

  protected fail(fault: ExchangeError['fault'], reason: string): void {
    const { abort } = this;
    const error = new ExchangeError(fault, abort !== undefined, reason);
    if (!this.settle(classifyFailure(error), false)) return;
    abort?.(error);
    // The caller must not take a part for the whole. The problem is shown if the head has not been sent yet.
    this.body?.destroy(new Problem('remote_response_lost', `The call was sent once: ${redact(reason)}`));
  }

  /** Returns the outcome of a response. Any response to a call that we do not know shows that the service is up, except an error of it. */
  private outcome(): Exchanged {
    const { status } = this;
    const { 'retry-after': retryAfter, date } = this.headers;
    const retryAfterMs = readRetryAfter(retryAfter, respondedAt(date, new Date()));
    const response: RemoteResponse = { status, retryAfterMs, body: '', isPassed: true };
    const sent = { kind: 'response', response } as const;
    const fault = `status ${status}`;
    if (status === 429 || status === 503)
      return { sent, result: status === 429 ? 'limited' : 'unavailable', fault, quietMs: retryAfterMs };
    const isRedirect = status >= 300 && status < 400 && status !== 304;
    if (isRedirect || isGivenUp(status) || (status >= 500 && status !== 501))
      return { sent, result: 'failed', fault };
    return { sent, result: 'succeeded', ...(isRefusal(status) && { fault }) };
  }

  private settle(exchanged: Exchanged, reusable: boolean): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.timer);
    this.limits.signal?.removeEventListener('abort', this.onAbort);
    this.limits.release(reusable && this.sentBody?.isArriving !== true);
    this.limits.settle(exchanged);
    return true;
  }
}

/** Names and values alternate in `raw`. Of a repeated header, the last value counts. Omits a value that quotes one of our secrets. */
function readHeaders(raw: readonly Buffer[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const value = raw[i + 1]!.toString('latin1');
    if (withoutSecrets(value) === value) headers[raw[i]!.toString('latin1').toLowerCase()] = value;
  }
  return headers;
}
