import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { accountForPostgres, placesForPostgres } from './postgres-account.js';
import { getPostgresBinaries } from './postgres-binaries.js';
import { startServer, type Server, type ServerRequest } from './postgres-server.js';

// A separate process between the service and PostgreSQL. It gets no Ctrl-C, so PostgreSQL stays until the service has drained. It outlives
// a killed service, so it can stop PostgreSQL then.

export interface SupervisorRequest extends ServerRequest {
  readonly folder: string;
  /** For a test run: the folder is deleted at the end. */
  readonly temporary: boolean;
}

async function start(request: SupervisorRequest): Promise<() => Promise<void>> {
  const account = await accountForPostgres();
  const places = await placesForPostgres(account, await getPostgresBinaries(), request.folder);
  const server: Server = await startServer(places, account, request);
  let stopping = false;
  void server.exited.then(() => {
    if (!stopping) process.exit(1);
  });
  if (process.connected) {
    process.send?.({
      type: 'ready',
      url: `postgresql://postgres:${request.password}@127.0.0.1:${server.port}/postgres`,
    });
  }
  return async () => {
    stopping = true;
    await server.stop();
    if (!request.temporary) return;
    const isOutside = !places.base.startsWith(request.folder);
    if (isOutside) await rm(dirname(places.base), { recursive: true, force: true });
    await rm(request.folder, { recursive: true, force: true });
  };
}

process.once('message', (request: SupervisorRequest) => {
  // If the service goes away while PostgreSQL still starts, PostgreSQL is stopped as soon as it has started.
  const gone = new Promise<void>((resolve) => {
    process.once('disconnect', resolve);
    process.once('SIGTERM', resolve);
  });
  start(request)
    .then(async (stop) => {
      await gone;
      await stop();
      process.exit(0);
    })
    .catch((error: Error) => {
      console.error(error);
      if (!process.connected) process.exit(1);
      process.send?.({ type: 'failed', message: error.message }, () => process.exit(1));
    });
});
