import { type buildConnector, Client } from 'undici';

/** Servers close an idle connection after 5 s (Node) or more; one that is about to be closed should not be met. */
const KEEP_ALIVE_MS = 4_000;

/**
 * The connections to one endpoint, kept while it is being sent to: a TLS handshake for each event would cost more than the event. Each
 * was judged when it was made, and none serves another endpoint.
 */
export class WebhookConnections {
  private readonly all = new Set<Client>();
  private readonly free: Client[] = [];

  constructor(
    readonly origin: string,
    private readonly connect: buildConnector.connector,
  ) {}

  take(): { readonly client: Client; readonly isReused: boolean } {
    // The one used last, so that those not needed any more become idle and close.
    const kept = this.free.pop();
    return kept === undefined ? { client: this.create(), isReused: false } : { client: kept, isReused: true };
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
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A longer life that the server offers in its Keep-Alive header is not taken.
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // Both restart with every byte; the deadline of an attempt does not.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.connect,
    });
    this.all.add(client);
    return client;
  }
}
