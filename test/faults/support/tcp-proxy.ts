import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

export interface TcpProxy {
  /** The given URL, through this proxy. */
  readonly url: string;
  /** Ends all connections and refuses new ones, as a server that was stopped does. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /**
   * Passes nothing on any more, in either direction, on the connections that are open now and began with bytes that hold `text`: to
   * both ends it looks as if the other had nothing to say. Answers how many there were.
   */
  fallSilent(text: string): number;
  /** How many connections have begun so with bytes that hold `text`. */
  begun(text: string): number;
  close(): Promise<void>;
}

/** Stands between a client and the server of a URL. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  const beginnings: { readonly bytes: Buffer; readonly silence: () => void }[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(targetPort), hostname);
    client.once('data', (bytes: Buffer) => {
      const silence = (): void => {
        // What arrives is read and dropped, so that the end of a connection is still seen.
        client.unpipe(upstream).resume();
        upstream.unpipe(client).resume();
      };
      beginnings.push({ bytes, silence });
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
  const refuse = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  const begunWith = (text: string) => beginnings.filter(({ bytes }) => bytes.includes(text));
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    refuse,
    accept: () => listen(port),
    fallSilent: (text) => {
      const silenced = begunWith(text);
      for (const { silence } of silenced) silence();
      return silenced.length;
    },
    begun: (text) => begunWith(text).length,
    close: async () => {
      if (server.listening) await refuse();
    },
  };
}
