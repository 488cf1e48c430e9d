import { Socket } from 'node:net';
import { Axios, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { buildConnector } from 'undici';
import { Connections } from '../../platform/http-client/connections.js';
import { Exchange } from './exchange.js';

/** How long an idle connection for reads stays open: shorter than the idle timeout of servers, which is 5 s (Node) or more. */
const READ_KEEP_ALIVE_MS = 4_000;
/** The same for POSTs. A POST is never retried, so the server must not be about to close the connection. */
const POST_KEEP_ALIVE_MS = 1_000;

/** Creates the axios instance for all calls to the remote service. A response of any status resolves. `config.timeout` limits the whole exchange. */
// Uses undici's dispatch: five times the calls per second of axios' http adapter. Follows no redirects and uses no proxy.
export function createAxios(options: {
  readonly baseUrl: string;
  /** Headers of every call. They bypass axios, which copies and checks each header several times. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}) {
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/+$/, '');
  const connect = promptConnector(options.timeoutMs);
  const reads = new Connections(base.origin, connect, READ_KEEP_ALIVE_MS);
  const posts = new Connections(base.origin, connect, POST_KEEP_ALIVE_MS);

  const adapter = (config: InternalAxiosRequestConfig): Promise<AxiosResponse> =>
    new Promise((resolve, reject) => {
      const method = config.method === 'post' ? 'POST' : 'GET';
      const connections = method === 'POST' ? posts : reads;
      const client = connections.take();
      const release = (reusable: boolean) => connections.giveBack(client, reusable);
      const exchange = new Exchange(config, resolve, reject, release);
      const body = config.data as string | undefined;
      const headers: Record<string, string> = { ...options.headers, ...config.headers };
      // axios adds the content type of a form even to a POST without a body.
      if (body === undefined) delete headers['Content-Type'];
      client.dispatch({ method, path: prefix + config.url, headers, body }, exchange);
    });

  return {
    axios: new Axios({ adapter }),
    /** Ends the calls in flight and closes every connection. */
    close: async () => void (await Promise.all([reads.close(), posts.close()])),
  };
}

/** Replaces undici's connect timeout, which is checked only twice a second. */
function promptConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: 0 });
  return (target, callback) => {
    const socket: unknown = connect(target, (...result) => {
      clearTimeout(timer);
      callback(...result);
    });
    const timer = setTimeout(() => {
      if (socket instanceof Socket) socket.destroy(new Error('no connection within the deadline'));
    }, timeoutMs);
  };
}
