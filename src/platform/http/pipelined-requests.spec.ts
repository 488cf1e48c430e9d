import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { HTTP_LIMITS } from './http-limits.js';
import { limitPipelining } from './pipelined-requests.js';

it('leaves a connection to Node if it does not find the one listener that feeds the parser', async () => {
  const server = createServer((_request, response) => response.end('served'));
  server.prependListener('connection', (socket: Socket) => socket.on('data', () => {}));
  limitPipelining(server, HTTP_LIMITS);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('served');
  server.closeAllConnections();
  server.close();
});
