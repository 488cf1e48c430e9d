import { type buildConnector, Client } from 'undici';
import { skippingInformational } from './informational.js';
import { MAX_HEADER_BYTES } from './response-limits.js';

/** Opens one connection per concurrent exchange. Rejected: undici's Pool, which reconnects after an abort even if nothing is left to send. */
export class Connections {
  private readonly all = new Set<Client>();
  private readonly free: Client[] = [];

  constructor(
    private readonly origin: string,
    private readonly connect: buildConnector.connector,
    private readonly keepAliveMs: number,
  ) {}

  /** Returns the most recently used free connection, or else a new one. The other free connections stay idle, so that they close. */
  take(): Client {
    return this.free.pop() ?? this.create();
  }

  giveBack(client: Client, reusable: boolean): void {
    if (reusable) {
      this.free.push(client);
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

/** Ends a connection with the alert of TLS that the server sends. Without this, undici says only that the other side has closed it. */
function endingByAlert(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      socket?.once('error', (error: Error) => socket.destroy(error));
      callback(...result);
    });
}
