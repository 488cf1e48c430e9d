import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { Connections } from '../../platform/http-client/connections.js';
import { Exchange } from './exchange.js';
import { promptConnector } from './prompt-connector.js';

/**
 * Servers close an idle connection after 5 s (Node) or more. A read may be sent again; a POST may not, so it must not meet that moment. It
 * reuses only a connection that was busy within the last second.
 */
const READ_KEEP_ALIVE_MS = 4_000;
const POST_KEEP_ALIVE_MS = 1_000;

export interface AdapterOptions {
  readonly baseUrl: string;
  /** Headers of every call. They bypass axios, which copies and checks each header several times. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface UndiciAdapter {
  readonly adapter: AxiosAdapter;
  /** Ends the calls in flight and closes every connection. */
  close(): Promise<void>;
}

/**
 * Runs axios over undici's dispatch: some five times the calls per second of axios' http adapter. What that adapter would do about
 * deadlines, cancelling, redirects, proxies, compression and size is decided here. `config.timeout` limits the whole exchange, connecting
 * included. A response of any status is a response. Redirects are not followed and no proxy is used. A response that is too large or
 * compressed comes without its body, with the reason.
 */
export function createUndiciAdapter(options: AdapterOptions): UndiciAdapter {
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/+$/, '');
  const connect = promptConnector(options.timeoutMs);
  const reads = new Connections(base.origin, connect, READ_KEEP_ALIVE_MS);
  const posts = new Connections(base.origin, connect, POST_KEEP_ALIVE_MS);

  return {
    adapter: (config) =>
      new Promise<AxiosResponse>((resolve, reject) => {
        const method = config.method === 'post' ? 'POST' : 'GET';
        const connections = method === 'POST' ? posts : reads;
        const { client } = connections.take();
        const exchange = new Exchange(config, resolve, reject, (reusable) =>
          connections.giveBack(client, reusable),
        );
        const body = typeof config.data === 'string' ? config.data : undefined;
        client.dispatch(
          { method, path: prefix + config.url, headers: headersOf(config, body, options.headers), body },
          exchange,
        );
      }),
    close: async () => {
      await Promise.all([reads.close(), posts.close()]);
    },
  };
}

/** Drops the content type that axios adds to every POST (a form), even to one without a body. */
function headersOf(
  config: InternalAxiosRequestConfig,
  body: string | undefined,
  always: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers = config.headers as unknown as Record<string, string>;
  const sent: Record<string, string> = { ...always };
  for (const name in headers) {
    if (Object.hasOwn(headers, name) && (body !== undefined || name.toLowerCase() !== 'content-type'))
      sent[name] = headers[name]!;
  }
  return sent;
}
