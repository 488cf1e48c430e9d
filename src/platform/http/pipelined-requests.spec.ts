import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { endServer, listen } from '../../../test/setup/receivers/servers.js';
import { HTTP_LIMITS } from './http-limits.js';
import { limitPipelining } from './pipelined-requests.js';

it('leaves a connection to Node if it does not find the one listener that feeds the parser', async () => {
  const server = createServer((_request, response) => response.end('served'));
  server.prependListener('connection', (socket: Socket) => socket.on('data', () => {}));
  limitPipelining(server, HTTP_LIMITS);
  const port = await listen(server);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('served');
  await endServer(server);
});
