import { lookup } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { Environment } from '../../platform/env/environment.js';
import { isLoopback } from '../../platform/http/origins.rules.js';
import { proxyFor, proxySecretsOf, type Proxy } from '../../platform/http-client/proxies.js';
import { ProxyWatch, TunnelError, tunnelling } from '../../platform/http-client/tunnel.js';
import { tlsFilesOf, type TlsFiles } from '../../platform/http-client/tls-files.js';
import { hideSecrets } from '../../platform/redaction/secrets.js';
import { lostBy } from './raw-remote.js';
import type { LostCall, SeenNetwork, SeenTls } from './seen.rules.js';

const PURPOSE = 'the remote service';
const DEADLINE_MS = 10_000;

/** Looks at the way to the remote service. Sends nothing to the service but a TLS handshake. */
export async function lookAtNetwork(environment: Environment): Promise<SeenNetwork> {
  const url = new URL(environment.SCS_BASE_URL);
  const proxy = proxyFor(url, environment);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isEncrypted = url.protocol === 'https:';
  const target = { host, port: Number(url.port) || (isEncrypted ? 443 : 80) };
  const names = await lookup(host, { all: true }).then(({ length }) => length, lostBy);
  const tunnel = proxy === undefined ? null : await openTunnel(proxy, target);
  const socket = tunnel instanceof Error ? null : tunnel;
  const tls =
    isEncrypted && !(tunnel instanceof Error)
      ? await lookAtTls(target, socket, tlsFilesOf(environment, 'remote'))
      : null;
  socket?.destroy();
  return {
    host,
    isEncrypted,
    isLoopback: isLoopback(url.hostname),
    names,
    proxy:
      proxy === undefined
        ? null
        : {
            variable: isEncrypted ? 'HTTPS_PROXY' : 'HTTP_PROXY',
            address: proxy.name,
            fault: tunnel instanceof Error ? lostBy(tunnel).lost : null,
            isAtFault: tunnel instanceof TunnelError && tunnel.isOfProxy,
          },
    tls,
  };
}

interface Target {
  readonly host: string;
  readonly port: number;
}

function openTunnel(proxy: Proxy, { host: hostname, port }: Target): Promise<Socket | Error> {
  const connect = tunnelling(proxy, buildConnector({}), DEADLINE_MS, new ProxyWatch(PURPOSE));
  const target = { hostname, host: hostname, protocol: 'http:', port: String(port) };
  return new Promise((resolve) => connect(target, (...[error, socket]) => resolve(error ?? socket)));
}

/** Completes a handshake without trusting the certificate, so that it can be described. No request follows. */
function lookAtTls(
  { host, port }: Target,
  socket: Socket | null,
  files: TlsFiles,
): Promise<SeenTls | LostCall> {
  return new Promise((resolve) => {
    const tls = connectTls({
      ...(socket ? { socket } : { host, port }),
      ...(!/^[\d.]+$|:/.test(host) && { servername: host }),
      ...files.options(),
      rejectUnauthorized: false,
      timeout: DEADLINE_MS,
    });
    tls.on('secureConnect', () => {
      const certificate = tls.getPeerX509Certificate();
      resolve({
        protocol: tls.getProtocol(),
        fault: tls.authorized
          ? null
          : String((tls.authorizationError as Error & { code?: string }).code ?? tls.authorizationError),
        validity:
          certificate === undefined
            ? null
            : { validFrom: certificate.validFrom, validTo: certificate.validTo },
      });
      tls.destroy();
    });
    tls.on('timeout', () => tls.destroy(new Error(`no handshake within ${DEADLINE_MS / 1_000} s`)));
    tls.on('error', (error) => resolve(lostBy(error)));
  });
}

/** Returns what sends the calls of a check, through the outbound proxy if there is one. */
export function dispatcherFor(environment: Environment): Dispatcher {
  hideSecrets(proxySecretsOf(environment));
  const direct = buildConnector({ timeout: DEADLINE_MS, ...tlsFilesOf(environment, 'remote').options() });
  const proxy = proxyFor(new URL(environment.SCS_BASE_URL), environment);
  const connect =
    proxy === undefined ? direct : tunnelling(proxy, direct, DEADLINE_MS, new ProxyWatch(PURPOSE));
  return new Agent({ pipelining: 1, connect });
}
