import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import { Agent, buildConnector, fetch as undiciFetch } from 'undici';
import { proxyFor, type Proxy, type ProxySettings } from './proxies.js';
import { ProxyWatch, tunnelling } from './tunnel.js';

const CONNECT_WITHIN_MS = 10_000;

const connectorOf = (proxy: Proxy, purpose: string): buildConnector.connector =>
  tunnelling(
    proxy,
    buildConnector({ timeout: CONNECT_WITHIN_MS }),
    CONNECT_WITHIN_MS,
    new ProxyWatch(purpose),
  );

/** Returns `fetch` through the outbound proxy, for the addresses that need it. */
export function proxiedFetch(settings: ProxySettings, purpose: string): typeof fetch {
  const agents = new Map<string, Agent>();
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const proxy = proxyFor(url, settings);
    if (proxy === undefined) return fetch(input, init);
    const dispatcher = agents.get(proxy.origin) ?? new Agent({ connect: connectorOf(proxy, purpose) });
    agents.set(proxy.origin, dispatcher);
    // Node's own fetch may not accept a dispatcher of another version of undici.
    const options = { ...init, dispatcher } as Parameters<typeof undiciFetch>[1];
    return undiciFetch(url, options);
  };
}

/** Returns an agent of node:http through the outbound proxy, or undefined if `url` needs none. */
export function proxiedAgent(
  url: URL,
  settings: ProxySettings,
  purpose: string,
): HttpAgent | HttpsAgent | undefined {
  const proxy = proxyFor(url, settings);
  if (proxy === undefined) return undefined;
  const connect = connectorOf(proxy, purpose);
  const agent = new (url.protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true });
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
