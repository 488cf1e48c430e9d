import type { Server } from 'node:http';
import { runService } from './test-service.js';

// The bug, Node's default: runs all pipelined requests of a connection at once.
const url = await runService({
  prepare: (app) => {
    const server: Server = app.getHttpServer();
    const fastify = app.getHttpAdapter().getInstance();
    server
      .removeAllListeners('request')
      .on('request', (request, response) => fastify.routing(request, response));
  },
});
process.send?.({ type: 'ready', url });
