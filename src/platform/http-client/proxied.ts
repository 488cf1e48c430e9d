import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import { Agent, buildConnector, fetch as undiciFetch } from 'undici';
import { lookupWithin } from './names.js';
import { proxyFor, type Proxy, type ProxySettings } from './proxies.js';
import { ProxyWatch, tunnelling } from './tunnel.js';

const CONNECT_WITHIN_MS = 10_000;

type Tls = Pick<AgentOptions, 'ca' | 'cert' | 'key'>;

const connectorOf = (proxy: Proxy, purpose: string, tls: Tls = {}): buildConnector.connector =>
  tunnelling(
    proxy,
    buildConnector({ timeout: CONNECT_WITHIN_MS, ...tls }),
    CONNECT_WITHIN_MS,
    new ProxyWatch(purpose),
  );

/** Returns `fetch` through the outbound proxy, for the addresses that need it. */
export function proxiedFetch(settings: ProxySettings, purpose: string): typeof fetch {
  const agents = new Map<string | undefined, Agent>();
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const proxy = proxyFor(url, settings);
    const connect =
      proxy === undefined
        ? { timeout: CONNECT_WITHIN_MS, lookup: lookupWithin(CONNECT_WITHIN_MS) }
        : connectorOf(proxy, purpose);
    const dispatcher = agents.get(proxy?.origin) ?? new Agent({ connect });
    agents.set(proxy?.origin, dispatcher);
    // Node's own fetch may not accept a dispatcher of another version of undici.
    const options = { ...init, dispatcher } as Parameters<typeof undiciFetch>[1];
    return undiciFetch(url, options);
  };
}

/** Returns an agent of node:http for `url`, through the outbound proxy if it needs one. */
export function proxiedAgent(
  url: URL,
  settings: ProxySettings,
  purpose: string,
  tls: Tls = {},
): HttpAgent | HttpsAgent {
  const proxy = proxyFor(url, settings);
  const lookup = lookupWithin(CONNECT_WITHIN_MS);
  const agent = new (url.protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, lookup, ...tls });
  if (proxy === undefined) return agent;
  const connect = connectorOf(proxy, purpose, tls);
  const createConnection = (
    { host, port, servername }: AgentOptions,
    done: (error: Error | null, socket?: object) => void,
  ): undefined => {
    const target = { hostname: host ?? '', host: host ?? '', protocol: url.protocol, port: `${port ?? ''}` };
    connect({ ...target, servername: servername ?? undefined }, (error, socket) =>
      done(error, socket ?? undefined),
    );
  };
  return Object.assign(agent, { createConnection });
}
