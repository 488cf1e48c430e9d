import type { lookup, LookupAddress } from 'node:dns';
import { Server } from 'proxy-chain';

export interface OutboundProxy {
  readonly port: number;
  readonly url: string;
  /** The hosts and ports to which tunnels were opened. */
  readonly tunnels: string[];
  /** Requests that were not CONNECT. */
  readonly plain: string[];
  close(): Promise<void>;
}

/** The credentials that the proxy requires, if it requires any. They contain what a URL escapes. */
export const PROXY_USER = { user: 'us@er', password: 'p@ss:/word%' };
export const withCredentials = ({ port }: Pick<OutboundProxy, 'port'>): string =>
  `http://${encodeURIComponent(PROXY_USER.user)}:${encodeURIComponent(PROXY_USER.password)}@127.0.0.1:${port}`;

/** Starts a proxy that alone knows the names below `.test`: they are this machine. */
export async function startOutboundProxy({ requiresUser = false } = {}): Promise<OutboundProxy> {
  const tunnels: string[] = [];
  const plain: string[] = [];
  const resolve = (name: string, options: { readonly all?: boolean }, callback: Callback): void => {
    if (!name.endsWith('.test')) callback(new Error(`the proxy does not know ${name}`), '', 0);
    else if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else callback(null, '127.0.0.1', 4);
  };
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    prepareRequestFunction: ({ username, password, hostname, port, isHttp, request }) => {
      const isKnown = username === PROXY_USER.user && password === PROXY_USER.password;
      if (isHttp) plain.push(request.url ?? '');
      else if (isKnown || !requiresUser) tunnels.push(`${hostname}:${port}`);
      return { requestAuthentication: requiresUser && !isKnown, dnsLookup: resolve as typeof lookup };
    },
  });
  await server.listen();
  const { port } = server;
  return { port, url: `http://127.0.0.1:${port}`, tunnels, plain, close: () => server.close(true) };
}

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
