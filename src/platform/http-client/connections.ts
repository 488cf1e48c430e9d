import { type buildConnector, Client } from 'undici';
import { skippingInformational } from './informational.js';

/**
 * Opens one connection to a server per concurrent exchange. Not undici's own Pool: after an abandoned exchange it reconnects at once, only
 * to find nothing to send. Here the connection is just closed.
 */
export class Connections {
  private readonly all = new Set<Client>();
  private readonly free: Client[] = [];

  constructor(
    private readonly origin: string,
    private readonly connect: buildConnector.connector,
    private readonly keepAliveMs: number,
  ) {}

  /**
   * Returns the connection used last, so that unneeded ones become idle and close. A connection that `isReused` may be closed by the server
   * at this very moment.
   */
  take(): { readonly client: Client; readonly isReused: boolean } {
    const kept = this.free.pop();
    return { client: kept ?? this.create(), isReused: kept !== undefined };
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
      keepAliveTimeout: this.keepAliveMs,
      // Ignores a longer lifetime that the server offers in its Keep-Alive header.
      keepAliveMaxTimeout: this.keepAliveMs,
      // Both timeouts restart with every byte; the deadline of the exchange does not.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: skippingInformational(this.connect),
    });
    this.all.add(client);
    return client;
  }
}
