import type { Readable } from 'node:stream';
import { Axios, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { buildConnector } from 'undici';
import { Connections } from '../../platform/http-client/connections.js';
import { proxyFor, proxySecretsOf } from '../../platform/http-client/proxies.js';
import { ProxyWatch, tunnelling } from '../../platform/http-client/tunnel.js';
import { tlsFilesOf, type TlsFiles } from '../../platform/http-client/tls-files.js';
import { addressWithinMs, sharedLookup } from '../../platform/http-client/names.js';
import type { Environment } from '../../platform/env/environment.js';
import { hideSecrets } from '../../platform/redaction/secrets.js';
import { traced } from '../../platform/tracing/tracing.js';
import type { Exchanged, PassedCall, RemoteRequest, Sent, SentOperation } from '../outcome.rules.js';
import { isGivenUp } from '../outcome.rules.js';
import { classifyFailure, classifyResponse, Exchange } from './exchange.js';
import type { ExchangeBody } from './exchange.js';
import { withoutEndSlashes } from '../../platform/http/origins.rules.js';

/** Receives every attempt. `seconds` is null if the call was not sent. */
export type Observe = (operation: SentOperation, sent: Sent, seconds: number | null) => void;

type WireRequest = Omit<RemoteRequest, 'operation'> & { readonly operation: SentOperation };

/** How long an idle connection for reads stays open: shorter than the idle timeout of servers, which is 5 s (Node) or more. */
const READ_KEEP_ALIVE_MS = 4_000;
/** How long an idle connection for POSTs stays open. A POST is never retried, so the server must not be about to close the connection. */
const POST_KEEP_ALIVE_MS = 1_000;

/** A tunnel may take this fraction of SCS_TIMEOUT_MS, so that a silent proxy is found before the deadline of the call. */
const TUNNEL_SHARE = 0.8;

/** The connections to the remote service. Knows neither turns nor breakers. */
// axios sends by undici's dispatch, five times as fast as by its http adapter. Dispatch follows no redirects. axios' own proxy support would send the
// credentials of http:// addresses to the proxy in clear, in place of a tunnel.
export class Wire {
  observe: Observe = () => {};
  readonly proxy = new ProxyWatch('the remote service');
  readonly tls: TlsFiles;
  private readonly axios = new Axios({ adapter: (config) => this.dispatch(config) });
  private readonly prefix: string;
  private readonly reads: Connections;
  private readonly posts: Connections;
  /** Headers of every call. They bypass axios, which copies and checks each header several times. */
  private readonly headers: Readonly<Record<string, string>>;

  constructor(environment: Environment) {
    const { SCS_API_KEY: ApiKey, SCS_CLIENT_ID, SCS_CLIENT_SECRET, SCS_BASE_URL } = environment;
    hideSecrets([ApiKey, SCS_CLIENT_ID, SCS_CLIENT_SECRET, ...proxySecretsOf(environment)]);
    const accepted = { accept: 'application/json', 'accept-encoding': 'identity' };
    this.headers = { ApiKey, ...accepted, 'user-agent': 'pv-onboarding' };
    const { origin, pathname } = new URL(SCS_BASE_URL);
    this.prefix = withoutEndSlashes(pathname);
    const { SCS_TIMEOUT_MS: timeout } = environment;
    this.tls = tlsFilesOf(environment, 'remote');
    const lookup = sharedLookup();
    // Half of `timeout` is for a base probe, in which a second address must be tried, too.
    const autoSelectFamilyAttemptTimeout = addressWithinMs(timeout);
    const options = { timeout, lookup, autoSelectFamilyAttemptTimeout };
    const direct = renewing(this.tls, (tls) => buildConnector({ ...options, ...tls }));
    const proxy = proxyFor(new URL(SCS_BASE_URL), environment);
    const connect =
      proxy === undefined ? direct : tunnelling(proxy, direct, TUNNEL_SHARE * timeout, this.proxy);
    this.reads = new Connections(origin, connect, READ_KEEP_ALIVE_MS);
    this.posts = new Connections(origin, connect, POST_KEEP_ALIVE_MS);
  }

  exchange(request: WireRequest, timeoutMs: number): Promise<Exchanged> {
    const { operation, method, path: url, body: data, signal } = request;
    const timeout = Math.max(1, Math.round(timeoutMs));
    const attributes = { 'http.request.method': method };
    const sentAt = performance.now();
    return traced({ name: `SCS ${operation}`, kind: 'client', attributes }, async (span) => {
      const { traceparent } = span;
      const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
      const exchanged =
        request.passed === undefined
          ? await this.axios
              .request<ExchangeBody>({ method, url, headers, data, timeout, signal })
              .then(classifyResponse)
              .catch(classifyFailure)
          : await this.pass({ ...request, headers }, request.passed, timeout);
      const { sent, fault } = exchanged;
      const status = sent.kind === 'response' ? sent.response.status : undefined;
      if (status !== undefined) this.proxy.note(null);
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
    await Promise.all([this.reads.close(), this.posts.close()]);
  }

  /** Passes a call on, with its bodies as they arrive. Resolves when the response has ended or failed. */
  private pass(request: WireRequest, passed: PassedCall, timeoutMs: number): Promise<Exchanged> {
    return new Promise((settle) => {
      const { method, path, signal } = request;
      const connections = method === 'GET' ? this.reads : this.posts;
      const client = connections.take();
      const release = (reusable: boolean) => connections.giveBack(client, reusable);
      const exchange = passed.open({ timeoutMs, signal, settle, release });
      const headers = { ...this.headers, ...request.headers };
      const body = passed.body?.bytes as Buffer | Readable | undefined;
      client.dispatch({ method, path: this.prefix + path, headers, body }, exchange);
    });
  }

  /** Resolves with a response of any status. `config.timeout` limits the whole exchange. */
  private dispatch(config: InternalAxiosRequestConfig): Promise<AxiosResponse> {
    return new Promise((resolve, reject) => {
      const method = config.method === 'post' ? 'POST' : 'GET';
      const connections = method === 'POST' ? this.posts : this.reads;
      const client = connections.take();
      const release = (reusable: boolean) => connections.giveBack(client, reusable);
      const exchange = new Exchange(config, resolve, reject, release);
      const body = config.data as string | undefined;
      const headers: Record<string, string> = { ...this.headers, ...config.headers };
      // axios adds the content type of a form even to a POST without a body.
      if (body === undefined) delete headers['Content-Type'];
      client.dispatch({ method, path: this.prefix + config.url, headers, body }, exchange);
    });
  }
}

/** Returns a connector that uses renewed files for new connections. */
function renewing(
  files: TlsFiles,
  make: (tls: ReturnType<TlsFiles['options']>) => buildConnector.connector,
): buildConnector.connector {
  let made: { readonly of: unknown; readonly connect: buildConnector.connector } | undefined;
  return (target, callback) => {
    const tls = files.options();
    if (made === undefined || made.of !== tls.secureContext)
      made = { of: tls.secureContext, connect: make(tls) };
    return made.connect(target, callback);
  };
}

/** Returns whether the response to the base probe shows that the service is up. */
// The interface does not describe it. A 401, 403 or 404 comes from a service that is up. A redirect may lead to a maintenance page.
export function isUp(sent: Sent): boolean {
  if (sent.kind !== 'response') return false;
  const { status } = sent.response;
  return status < 500 && !isGivenUp(status) && status !== 429 && !(status >= 300 && status < 400);
}

/** Returns whether to retry. After a 429 or 503, the queue lowers the concurrency instead. A 501 means that the path is not served. */
export function isWorthRepeating(sent: Sent): boolean {
  if (sent.kind !== 'response')
    return sent.kind === 'ambiguous' || sent.reason === 'unreachable' || sent.reason === 'proxy_fails';
  const { status } = sent.response;
  return isGivenUp(status) || (status >= 500 && status !== 501 && status !== 503);
}
