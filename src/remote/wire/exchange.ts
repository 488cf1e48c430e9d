import { AxiosHeaders, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import type { Dispatcher } from 'undici';

/** 10,000 inverters of one session are 0.5 MB; a larger body is not a response of the documented interface. */
const MAX_BODY_BYTES = 1024 * 1024;
const TOO_LARGE = `the answer is larger than ${MAX_BODY_BYTES} bytes`;

export type ExchangeFault = 'deadline' | 'cancelled' | 'connection';

/** There is no response. Carries no request configuration, so that it cannot leak a credential. */
export class ExchangeError extends Error {
  constructor(
    readonly fault: ExchangeFault,
    /** False if no byte of the request can have been written. */
    readonly maybeSent: boolean,
    reason: string,
  ) {
    super(reason);
  }
}

/** The `data` of every response: the text decoded from UTF-8, or why it was not read. */
export interface ExchangeBody {
  readonly text: string;
  readonly fault?: string;
}

/** One request and its response. Settles once, whatever undici reports afterwards. */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort: (() => void) | undefined;
  private abort: ((error: Error) => void) | undefined;
  private settled = false;
  private status = 0;
  private headers: Record<string, string> = {};
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly config: InternalAxiosRequestConfig,
    private readonly resolve: (response: AxiosResponse) => void,
    private readonly reject: (error: ExchangeError) => void,
    private readonly release: (reusable: boolean) => void,
  ) {
    this.timer = setTimeout(
      () => this.fail('deadline', `no answer within ${config.timeout} ms`),
      config.timeout,
    );
    if (config.signal) {
      this.onAbort = () => this.fail('cancelled', 'cancelled');
      config.signal.addEventListener?.('abort', this.onAbort);
    }
  }

  /** Called by undici right before it writes, so nothing was sent before. */
  onConnect(abort: (error?: Error) => void): void {
    // Either settled while waiting for a connection, or written before on a connection that was lost: never send twice.
    if (this.settled) return abort(new Error('settled'));
    if (this.abort) {
      this.fail('connection', 'connection lost');
      return abort(new Error('not repeated'));
    }
    this.abort = abort;
  }

  onHeaders(status: number, rawHeaders: Buffer[]): boolean {
    // A 1xx precedes the response.
    if (status < 200) return true;
    this.status = status;
    this.headers = pickHeaders(rawHeaders, MAY_ASK_TO_WAIT.has(status));
    const encoding = this.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
      this.answerWithout('the answer is compressed, which we did not accept');
    } else if (Number(this.headers['content-length']) > MAX_BODY_BYTES) this.answerWithout(TOO_LARGE);
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > MAX_BODY_BYTES) this.answerWithout(TOO_LARGE);
    else this.chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    // Decode the whole body at once: a character may be split between two chunks.
    const whole = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks, this.size);
    this.answer({ text: whole.toString() }, true);
  }

  onError(error: Error): void {
    // If the connection is lost in the middle of a 200, the response is not a 200: the status says nothing about the missing part.
    this.fail('connection', this.status === 0 ? describe(error) : `answer cut off: ${describe(error)}`);
  }

  private answer(data: ExchangeBody, reusable: boolean): void {
    if (!this.settle()) return;
    this.release(reusable);
    const { status, headers, config } = this;
    this.resolve({ status, statusText: '', headers: new AxiosHeaders(headers), config, data });
  }

  /** Settles with the status but without a body. Closes the connection, since its remaining bytes would have to be read. */
  private answerWithout(fault: string): void {
    this.answer({ text: '', fault }, false);
    this.abort?.(new Error(fault));
  }

  private fail(fault: ExchangeFault, reason: string): void {
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
    if (this.onAbort) this.config.signal?.removeEventListener?.('abort', this.onAbort);
    return true;
  }
}

const PICKED = new Set(['content-type', 'content-length', 'content-encoding', 'retry-after', 'date']);
/** Statuses with which Retry-After counts, and with it Date, the clock it was written by. */
const MAY_ASK_TO_WAIT = new Set([429, 503]);

/**
 * Returns the headers in use; names and values alternate in `raw`. The others are not even decoded: the check of the length skips most of
 * them.
 */
function pickHeaders(raw: readonly Buffer[], withDate: boolean): Record<string, string> {
  const picked: Record<string, string> = {};
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const { length } = raw[i]!;
    if (length !== 11 && length !== 12 && length !== 14 && length !== 16 && !(withDate && length === 4))
      continue;
    const name = raw[i]!.toString('latin1').toLowerCase();
    if (PICKED.has(name)) picked[name] = raw[i + 1]!.toString('latin1');
  }
  return picked;
}

/** Messages of undici and Node contain addresses and codes, but nothing that was sent. */
function describe(error: Error & { code?: string }): string {
  return error.code && !error.message.includes(error.code)
    ? `${error.message} (${error.code})`
    : error.message;
}
