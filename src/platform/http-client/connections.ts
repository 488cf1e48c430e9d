import { type buildConnector, Client } from 'undici';
import { skippingInformational } from './informational.js';

/**
 * As many connections to one server as there are exchanges with it at once. undici's own Pool would do, but an exchange that is given
 * up makes it connect again at once, to find out only then that nothing is left to send; here the connection goes and that is all.
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
   * The one used last, so that those not needed any more become idle and close. One that `isReused` may be closed at the other end in
   * this very moment.
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
      // A longer life that the server offers in its Keep-Alive header is not taken.
      keepAliveMaxTimeout: this.keepAliveMs,
      // Both restart with every byte; the deadline of the exchange does not.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: skippingInformational(this.connect),
    });
    this.all.add(client);
    return client;
  }
}
