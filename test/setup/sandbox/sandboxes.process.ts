import Fastify, { type FastifyInstance } from 'fastify';
import { createSandbox } from '../../../sandbox/server.js';
import { CREDENTIALS } from '../test-environment.js';

// Runs the sandboxes of a test run, because starting a process for each of them takes 0.6 s of CPU.
// `POST /` starts a sandbox and responds with its URL, `DELETE /:port` ends it.
const credentials = {
  apiKey: CREDENTIALS.SCS_API_KEY,
  clientId: CREDENTIALS.SCS_CLIENT_ID,
  clientSecret: CREDENTIALS.SCS_CLIENT_SECRET,
};
const running = new Map<string, FastifyInstance>();
const server = Fastify();

server.post('/', async () => {
  const { app, sandbox } = createSandbox(credentials, ['127.0.0.1'], null);
  await app.listen({ host: '127.0.0.1', port: 0 });
  running.set(new URL(sandbox.url()).port, app);
  return sandbox.url();
});

server.delete<{ Params: { port: string } }>('/:port', async ({ params: { port } }) => {
  const app = running.get(port);
  running.delete(port);
  // Closes all connections. Otherwise, closing would wait for responses that a fault holds.
  app?.server.closeAllConnections();
  await app?.close();
});

process.on('disconnect', () => process.exit(0));
await server.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ type: 'ready', url: server.listeningOrigin });
