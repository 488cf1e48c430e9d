import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

export interface TcpProxy {
  readonly url: string;
  /** Resets all connections and refuses new ones, as a stopped server does. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Resets all connections and forwards new ones to another server. */
  moveTo(target: string): void;
  /** Stops forwarding, in both directions, on connections whose first bytes contain `text`. Returns the number of connections. */
  fallSilent(text: string): number;
  /** Counts all connections so far whose first bytes contain `text`. */
  begun(text: string): number;
  /** Counts the connections of `begun` that have closed. */
  closed(text: string): number;
  close(): Promise<void>;
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let destination = new URL(target);
  const sockets = new Set<Socket>();
  const beginnings: { readonly client: Socket; readonly bytes: Buffer; readonly silence: () => void }[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(destination.port), destination.hostname);
    client.once('data', (bytes: Buffer) => {
      const silence = (): void => {
        // Reads and discards all data, so that the proxy still sees a connection close.
        client.unpipe(upstream).resume();
        upstream.unpipe(client).resume();
      };
      beginnings.push({ client, bytes, silence });
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true).pipe(to);
      from.on('error', () => {});
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const resetAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const refuse = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    resetAll();
    await closed;
  };
  const begunWith = (text: string) => beginnings.filter(({ bytes }) => bytes.includes(text));
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    refuse,
    accept: () => listen(port),
    moveTo: (next) => {
      destination = new URL(next);
      resetAll();
    },
    fallSilent: (text) => {
      const silenced = begunWith(text);
      for (const { silence } of silenced) silence();
      return silenced.length;
    },
    begun: (text) => begunWith(text).length,
    closed: (text) => begunWith(text).filter(({ client }) => client.closed).length,
    close: async () => {
      if (server.listening) await refuse();
    },
  };
}
