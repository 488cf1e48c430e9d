import { Socket } from 'node:net';
import pg from 'pg';
import { sharedLookup } from '../../http-client/names.js';

type Query = string | (pg.QueryConfig & { readonly query_timeout?: number });
type Callback = (error: Error | null | undefined, result: pg.QueryResult) => void;
type Send = (query: pg.QueryConfig, values: unknown[] | undefined, callback: Callback) => void;

const lookup = sharedLookup();

/** Returns a socket that pg connects to a port and a host, or to the path of a socket of the machine. */
function unconnectedSocket(): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  return Object.assign(socket, {
    connect: (port: number | string, host: string) =>
      typeof port === 'string' ? connect(port) : connect({ port, host, lookup }),
  });
}

/**
 * A client that reads what has arrived before it gives up waiting for a response. pg's own timer fires before that if the process was stopped
 * for longer than `query_timeout`.
 */
export class ReadingClient extends pg.Client {
  private readonly withinMs: number | undefined;

  constructor({ query_timeout, ...config }: pg.ClientConfig = {}) {
    super({ ...config, stream: unconnectedSocket });
    this.withinMs = query_timeout;
  }

  /** Calls the callback if there is one, as from pg-pool, else returns a promise: pg's types list all forms. */
  override query(...sent: never): never {
    const [query, values, callback] = sent as [Query, unknown[]?, Callback?];
    if (callback !== undefined) return this.run(query, values, callback) as never;
    return new Promise((resolve, reject) => {
      this.run(query, values, (error, result) => (error ? reject(error) : resolve(result)));
    }) as never;
  }

  private run(query: Query, values: unknown[] | undefined, callback: Callback): void {
    const { query_timeout: withinMs = this.withinMs, ...config } =
      typeof query === 'string' ? { text: query } : query;
    let state: 'waiting' | 'late' | 'over' = 'waiting';
    const giveUp = () => {
      if (state === 'over') return;
      state = 'late';
      void this.end();
    };
    const timer = withinMs ? setTimeout(() => setImmediate(giveUp), withinMs) : undefined;
    (super.query as Send).call(this, config, values, (error, result) => {
      clearTimeout(timer);
      const isLate = state === 'late';
      state = 'over';
      callback(error && isLate ? new Error('Query read timeout') : error, result);
    });
  }
}
