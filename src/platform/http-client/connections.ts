import { type buildConnector, Client } from 'undici';
import { skippingInformational } from './informational.js';
import { MAX_HEADER_BYTES } from './response-limits.js';

/** Opens one connection per concurrent exchange. Rejected: undici's Pool, which reconnects after an abort even if nothing is left to send. */
export class Connections {
  private readonly all = new Set<Client>();
  private readonly free: { readonly client: Client; readonly until: number }[] = [];

  constructor(
    private readonly origin: string,
    private readonly connect: buildConnector.connector,
    private readonly keepAliveMs: number,
  ) {}

  /** Returns the most recently used free connection, or else a new one. The other free connections stay idle, so that they close. */
  // If the process was stopped, undici has not yet closed connections that were idle for too long, and that the server may have closed.
  take(): Client {
    const last = this.free.pop();
    if (last === undefined) return this.create();
    if (performance.now() < last.until) return last.client;
    this.giveBack(last.client, false);
    return this.take();
  }

  giveBack(client: Client, reusable: boolean): void {
    if (reusable) {
      this.free.push({ client, until: performance.now() + this.keepAliveMs });
      return;
    }
    this.all.delete(client);
    void client.destroy();
  }

  async close(): Promise<void> {
    await Promise.all([...this.all].map((client) => client.destroy()));
  }

  private create(): Client {
    const client = new Client(this.origin, {
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: this.keepAliveMs,
      // Ignores a longer lifetime that the server offers in its Keep-Alive header.
      keepAliveMaxTimeout: this.keepAliveMs,
      // Disables both timeouts of undici, since they restart with every byte. Callers set a deadline for the exchange instead.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: endingByAlert(skippingInformational(this.connect)),
    });
    this.all.add(client);
    return client;
  }
}

/** An error for a server that has refused the handshake of TLS 1.3 by an alert, and so has read no request. */
export class HandshakeAlert extends Error {
  readonly code: string | undefined;

  constructor({ message, code }: NodeJS.ErrnoException) {
    super(message);
    this.code = code;
  }
}

/**
 * Ends a connection with the alert of a server that refuses the client's part of the handshake. With TLS 1.3, the client may have sent a
 * request by then, and undici may say only that the other side has closed the connection. An alert after a ticket or a byte of the server
 * is not of the handshake, so the server may have read the request.
 */
function endingByAlert(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      let isOpen = false;
      socket?.once('session', () => (isOpen = true));
      socket?.once('error', (error: NodeJS.ErrnoException) => {
        socket.destroy(isOpen || socket.bytesRead > 0 ? error : new HandshakeAlert(error));
      });
      callback(...result);
    });
}
