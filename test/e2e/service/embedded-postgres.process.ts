import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/local/embedded-postgres.js';
import { SANDBOX_CREDENTIALS, startLocalServices } from '../../../src/local/local-services.js';

const folder = process.env.FOLDER ?? '';

/** Starts PostgreSQL among the services of a laptop. */
async function startAmongServices() {
  const variables = { ...SANDBOX_CREDENTIALS, SCS_BASE_URL: 'http://127.0.0.1:1' };
  const { source, failed, stop } = await startLocalServices(
    { variables, problems: new Map() },
    folder,
    { sandbox: true },
    () => {},
  );
  void failed.then((name) => console.log(`${name} failed`));
  return { pid: 0, url: source.DATABASE_URL ?? '', stop };
}

const server = process.env.AMONG_SERVICES
  ? await startAmongServices()
  : await startEmbeddedPostgres({ folder, temporary: true });

async function stop(): Promise<void> {
  await server.stop();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect().catch((error: NodeJS.ErrnoException) => console.log(error.code));
  process.exit(0);
}
process.once('SIGTERM', () => void stop());
console.log(JSON.stringify({ pid: server.pid }));
process.send?.({ type: 'ready', url: server.url });
// Keeps this process running: neither the server nor the IPC channel does.
if (process.env.ENDS === undefined) setInterval(() => {}, 60_000);
