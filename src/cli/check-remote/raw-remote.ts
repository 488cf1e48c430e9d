import { type Dispatcher, request } from 'undici';
import type { Environment } from '../../platform/env/environment.js';
import { describeConnectionError } from '../../platform/http-client/response-limits.js';
import { redact } from '../../platform/redaction/redaction.js';
import type { LostCall, SeenCall } from './seen.rules.js';
import { withoutEndSlashes } from '../../platform/http/origins.rules.js';

/** Longer than SCS_TIMEOUT_MS, so that a slow service is measured and not only given up. */
const DEADLINE_MS = 30_000;
const MAX_BODY_BYTES = 1024 * 1024;

export interface RawRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Undefined headers are not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/**
 * Sends single calls that change nothing, with any headers, and returns responses as they came. Everything else goes through
 * remote.service.ts, which always sends the right key and shows no headers.
 */
export class RawRemote {
  private readonly base: string;

  constructor(
    { SCS_BASE_URL }: Environment,
    private readonly dispatcher: Dispatcher,
  ) {
    this.base = withoutEndSlashes(SCS_BASE_URL);
  }

  async call({ method, path, headers = {}, body }: RawRequest): Promise<SeenCall> {
    const sentAt = performance.now();
    const given = { accept: 'application/json', 'accept-encoding': 'identity', ...headers };
    const own = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
    try {
      const response = await request(this.base + path, {
        method,
        headers: { 'user-agent': 'pv-onboarding', ...Object.fromEntries(own) },
        dispatcher: this.dispatcher,
        signal: AbortSignal.timeout(DEADLINE_MS),
        ...(body !== undefined && { body }),
      });
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        if ((size += chunk.length) > MAX_BODY_BYTES) throw new Error('the response is larger than 1 MB');
        chunks.push(chunk);
      }
      return {
        status: response.statusCode,
        headers: Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
        ),
        body: Buffer.concat(chunks).toString(),
        ms: performance.now() - sentAt,
        receivedAt: new Date(),
      };
    } catch (error) {
      return lostBy(error);
    }
  }
}

/** Returns why a call has no response, without secrets. */
export function lostBy(error: unknown): LostCall {
  if (!(error instanceof Error)) return { lost: 'an unknown error' };
  if (error.name === 'TimeoutError') return { lost: `no response within ${DEADLINE_MS / 1_000} s` };
  return { lost: redact(describeConnectionError(error)) || error.name };
}
