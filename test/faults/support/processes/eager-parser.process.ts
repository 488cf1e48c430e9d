import type { Server } from 'node:http';
import { runService } from './test-service.js';

// The bug, which is Node's default: parses and runs all pipelined requests of a connection at once.
const url = await runService({
  prepare: (app) => {
    const server: Server = app.getHttpServer();
    const [, intake] = server.listeners('connection');
    server.off('connection', intake as () => void);
  },
});
process.send?.({ type: 'ready', url });
