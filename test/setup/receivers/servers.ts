import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Lets a server listen on a free port of the loopback. Returns the port. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Closes a server and its connections. */
export const endServer = (server: HttpServer): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()).closeAllConnections());
