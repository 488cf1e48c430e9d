import { buildConnector, Client } from 'undici';

/**
 * As many connections as there are exchanges at once. undici's own Pool would do, but an exchange that is given up makes it
 * connect again at once, to find out only then that nothing is left to send; here the connection goes and that is all.
 */
export class Connections {
  private readonly all = new Set<Client>();
  private readonly free: Client[] = [];

  constructor(
    private readonly origin: string,
    private readonly connect: buildConnector.connector,
    private readonly keepAliveMs: number,
  ) {}

  /** The one used last, so that those not needed any more become idle and close. */
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
      keepAliveTimeout: this.keepAliveMs,
      // A longer life that the server offers in its Keep-Alive header is not taken.
      keepAliveMaxTimeout: this.keepAliveMs,
      // Both restart with every byte; the deadline of the exchange does not.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.connect,
    });
    this.all.add(client);
    return client;
  }
}

/** undici's own connect timeout is checked twice a second only, and would leave a socket behind for as long. */
export function promptConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: 0 });
  return (target, callback) => {
    const socket: unknown = connect(target, (...result) => {
      clearTimeout(timer);
      callback(...result);
    });
    const timer = setTimeout(() => {
      if (isDestroyable(socket)) socket.destroy(new Error('no connection within the deadline'));
    }, timeoutMs);
  };
}

const isDestroyable = (value: unknown): value is { destroy(error: Error): void } =>
  typeof value === 'object' && value !== null && 'destroy' in value;
