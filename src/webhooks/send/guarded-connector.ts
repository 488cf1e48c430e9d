import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { lookupBy, type Resolve } from '../../platform/http-client/names.js';
import type { Proxy } from '../../platform/http-client/proxies.js';
import { ProxyWatch, tunnelling } from '../../platform/http-client/tunnel.js';

interface Guard {
  readonly resolve: Resolve;
  /** Returns why webhooks must not be sent to an address; null if they may. */
  readonly refusal: (address: string) => string | null;
  /** How long a connection may take, from resolving the name to the end of the TLS handshake. */
  readonly withinMs: number;
  /** Returns the outbound proxy for an address. It resolves the names, so it also decides which addresses they lead to. */
  readonly proxyOf: (url: URL) => Proxy | undefined;
  /** Aborts the names that are being resolved. */
  readonly closing: AbortSignal;
}

/** Connects only to addresses that `refusal` allows. Resolves each name once, because a second lookup could return another address. */
export function guardedConnector({
  resolve,
  refusal,
  withinMs,
  proxyOf,
  closing,
}: Guard): buildConnector.connector {
  const refused = (address: string): Error | null => {
    const why = refusal(address);
    return why === null ? null : new Error(`${address} ${why}; webhooks go to public addresses only`);
  };
  const guardedLookup = lookupBy(async (hostname) => {
    const addresses = await resolve(hostname, AbortSignal.any([closing, AbortSignal.timeout(withinMs)]));
    // Refuses a name if any of its addresses is refused: a mix of public and other addresses is a mistake or a probe.
    const [error] = addresses.flatMap(({ address }) => refused(address) ?? []);
    if (error !== undefined) throw error;
    return addresses;
  });
  // undici continues to connect after the deadline of the request, and its next request would wait for the same connection.
  const direct = buildConnector({ timeout: withinMs, lookup: guardedLookup });
  const watch = new ProxyWatch('a receiver of webhooks');
  return (target, callback) => {
    // Checks an IP address in this function, because Node does not look it up.
    const error = isIP(target.hostname) === 0 ? null : refused(target.hostname);
    if (error !== null) return callback(error, null);
    const proxy = proxyOf(new URL(`${target.protocol}//${target.host}`));
    const connect = proxy === undefined ? direct : tunnelling(proxy, direct, withinMs, watch);
    connect(target, callback);
  };
}
