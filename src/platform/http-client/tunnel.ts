import type { Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { buildConnector, Client } from 'undici';
import { certificateFault } from '../crypto/certificate-fault.js';
import { lookupBy, resolveWithin } from './names.js';
import type { Proxy } from './proxies.js';
import { describeConnectionError, MAX_HEADER_BYTES } from './response-limits.js';

/** A proxy opened no tunnel, so nothing was sent to the other end. The message contains no credentials. */
export class TunnelError extends Error {
  constructor(
    message: string,
    /** Whether the proxy itself fails or refuses. If not, it reports that it cannot connect to the other end. */
    readonly isOfProxy: boolean,
  ) {
    super(message);
  }
}

/** Logs when a proxy begins and ceases to fail. */
export class ProxyWatch {
  private readonly logger = new Logger('Proxy');
  private current: string | null = null;

  constructor(private readonly purpose: string) {}

  /** The latest failure of the proxy; null if it has opened a tunnel since. */
  get fault(): string | null {
    return this.current;
  }

  note(error: unknown): void {
    const fault = error instanceof TunnelError && error.isOfProxy ? error.message : null;
    if (fault !== null && this.current === null)
      this.logger.error(`${this.purpose} cannot be reached: ${fault}`);
    if (fault === null && this.current !== null)
      this.logger.log(`the proxy opens tunnels again, for ${this.purpose}`);
    this.current = fault;
  }
}

type Target = Parameters<buildConnector.connector>[0];

/**
 * Returns a connector whose connections lead through a proxy, by CONNECT; `secure` makes TLS in the tunnel. undici's Client sends the
 * CONNECT. Rejected: its ProxyAgent. It does not say whether the proxy or the other end failed, it repeats a CONNECT that the proxy closes
 * until the deadline, and it reads the files of TLS once.
 */
export function tunnelling(
  proxy: Proxy,
  secure: buildConnector.connector,
  withinMs: number,
  watch: ProxyWatch,
): buildConnector.connector {
  return (target, callback) => {
    openTunnel(proxy, target, withinMs).then(
      (socket) => {
        watch.note(null);
        if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => {
        watch.note(error);
        callback(error, null);
      },
    );
  };
}

async function openTunnel(proxy: Proxy, target: Target, withinMs: number): Promise<Socket> {
  const { protocol, hostname, port } = target;
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  const path = `${host}:${port || (protocol === 'https:' ? 443 : 80)}`;
  let hasAddress = true;
  const lookup = lookupBy(async (name) => {
    hasAddress = false;
    const addresses = await resolveWithin(withinMs, name);
    hasAddress = true;
    return addresses;
  });
  const client = new Client(proxy.origin, {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    connect: { timeout: withinMs, lookup },
  });
  const deadline = AbortSignal.timeout(withinMs);
  try {
    const { statusCode, socket } = await client.connect({
      path,
      signal: deadline,
      headers: {
        host: path,
        ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
      },
    });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on('error', () => {}).destroy();
    throw refusalOf(proxy, path, statusCode);
  } catch (error) {
    if (error instanceof TunnelError) throw error;
    const late = `${hasAddress ? 'does not respond' : 'has no address'} within ${withinMs} ms`;
    const why = deadline.aborted ? late : faultOf(error as Error, path);
    throw new TunnelError(`the proxy ${proxy.name} ${why}`, true);
  } finally {
    // An open tunnel no longer belongs to the client.
    void client.destroy();
  }
}

function refusalOf(proxy: Proxy, path: string, status: number): TunnelError {
  const { name, authorization } = proxy;
  if (status === 407) {
    const why = authorization === undefined ? 'requires a user and a password' : 'rejects our credentials';
    return new TunnelError(`the proxy ${name} ${why} (status 407)`, true);
  }
  return status >= 500
    ? new TunnelError(`the proxy ${name} cannot connect to ${path} (status ${status})`, false)
    : new TunnelError(`the proxy ${name} refuses connections to ${path} (status ${status})`, true);
}

function faultOf(error: Error & { readonly code?: string }, path: string): string {
  if (error.code === 'UND_ERR_SOCKET') return `closes the connection without opening one to ${path}`;
  const ofCertificate = certificateFault(error.code, 'NODE_EXTRA_CA_CERTS');
  if (ofCertificate !== undefined) return `cannot be used: ${ofCertificate}`;
  return `cannot be reached: ${describeConnectionError(error)}`;
}
