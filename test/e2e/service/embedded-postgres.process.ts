import { startEmbeddedPostgres } from '../../../src/platform/local/embedded-postgres.js';

// Holds a PostgreSQL as a run of the tests does, to be stopped or killed.
const server = await startEmbeddedPostgres({ folder: process.env.FOLDER ?? '', temporary: true });
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
console.log(JSON.stringify({ pid: server.pid }));
process.send?.({ type: 'ready', url: server.url });
// Neither the server nor the channel to the test keeps a process running.
setInterval(() => {}, 60_000);
