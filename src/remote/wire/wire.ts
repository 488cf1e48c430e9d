import type { Environment } from '../../platform/env/environment.js';
import { hideSecrets } from '../../observability/redaction/secrets.js';
import { traced } from '../../observability/tracing/tracing.js';
import type { RemoteRequest, Sent, SentOperation } from '../outcome.rules.js';
import { classifyFailure, classifyResponse, type ExchangeBody, type Exchanged } from './exchange.js';
import { createAxios } from './remote-axios.js';

/** Receives every attempt. `seconds` is null if the call was not sent. */
export type Observe = (operation: SentOperation, sent: Sent, seconds: number | null) => void;

type WireRequest = Omit<RemoteRequest, 'operation'> & { readonly operation: SentOperation };

/** The connections to the remote service. Knows neither turns nor breakers. */
export class Wire {
  observe: Observe = () => {};
  private readonly http: ReturnType<typeof createAxios>;

  constructor(environment: Environment) {
    hideSecrets([environment.SCS_API_KEY, environment.SCS_CLIENT_ID, environment.SCS_CLIENT_SECRET]);
    const { SCS_BASE_URL: baseUrl, SCS_API_KEY: ApiKey, SCS_TIMEOUT_MS: timeoutMs } = environment;
    const headers = {
      ApiKey,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'pv-onboarding',
    };
    this.http = createAxios({ baseUrl, headers, timeoutMs });
  }

  exchange(request: WireRequest, timeoutMs: number): Promise<Exchanged> {
    const { operation, method, path: url, body: data, signal } = request;
    const timeout = Math.max(1, Math.round(timeoutMs));
    const attributes = { 'http.request.method': method };
    const sentAt = performance.now();
    return traced({ name: `SCS ${operation}`, kind: 'client', attributes }, async (span) => {
      const { traceparent } = span;
      const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
      const sending = this.http.axios.request<ExchangeBody>({ method, url, headers, data, timeout, signal });
      const exchanged = await sending.then(classifyResponse).catch(classifyFailure);
      const { sent, fault } = exchanged;
      const status = sent.kind === 'response' ? sent.response.status : undefined;
      if (status !== undefined) span.set({ 'http.response.status_code': status });
      if (fault !== undefined) span.fail(String(status ?? sent.kind));
      this.observe(operation, sent, (performance.now() - sentAt) / 1_000);
      return exchanged;
    });
  }

  /** Sends the base probe of interface section 4.5, which changes nothing. */
  probe(timeoutMs: number, signal?: AbortSignal): Promise<Exchanged> {
    return this.exchange({ operation: 'probe', method: 'GET', path: '/api/v1/ssa', signal }, timeoutMs);
  }

  async close(): Promise<void> {
    await this.http.close();
  }
}

/** Returns whether the response to the base probe shows that the service is up. The interface does not show the response. */
// A 401, 403 or 404 comes from a service that is up. A redirect may lead to a maintenance page.
export function isUp(sent: Sent): boolean {
  if (sent.kind !== 'response') return false;
  const { status } = sent.response;
  return status < 500 && status !== 408 && status !== 429 && !(status >= 300 && status < 400);
}

/** Returns whether to retry. A 429 or 503 is not retried: the queue lowers the concurrency instead. A 501 is about the path. */
export function isWorthRepeating(sent: Sent): boolean {
  if (sent.kind !== 'response') return sent.kind === 'ambiguous' || sent.reason === 'unreachable';
  const { status } = sent.response;
  return status === 408 || (status >= 500 && status !== 501 && status !== 503);
}
