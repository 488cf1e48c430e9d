import { startEmbeddedPostgres } from '../../../src/local/embedded-postgres.js';

const server = await startEmbeddedPostgres({ folder: process.env.FOLDER ?? '', temporary: true });
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
console.log(JSON.stringify({ pid: server.pid }));
process.send?.({ type: 'ready', url: server.url });
// Keeps this process running: neither the server nor the IPC channel does.
setInterval(() => {}, 60_000);
