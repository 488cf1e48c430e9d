import { Logger } from '@nestjs/common';
import { Listener } from '../../../src/platform/database/connection/listen.js';
import { Database } from '../../../src/platform/database/database.js';
import { Breakers } from '../../../src/remote/shared/breakers.service.js';
import { SharedState } from '../../../src/remote/shared/shared-state.service.js';
import { OperationsStore } from '../../../src/remote/shared/operations.store.js';
import { Remote } from '../../../src/remote/remote.service.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { remoteEnvironment } from '../../e2e/remote/fixture.js';

// Disables logging, because these tests provoke warnings.
Logger.overrideLogger(false);

export interface RemoteReplica {
  readonly remote: Remote;
  readonly state: SharedState;
  readonly database: Database;
  close(): Promise<void>;
}

/** Starts the part of a replica that calls the remote service, with its own database connections and state. */
export async function startRemoteReplica(
  overrides: Partial<Environment>,
  storeOf = (database: Database): OperationsStore => new OperationsStore(database),
): Promise<RemoteReplica> {
  const environment = remoteEnvironment(overrides);
  const database = new Database(environment);
  const remote = new Remote(environment);
  const operations = storeOf(database);
  const breakers = new Breakers(remote, operations, environment);
  const listener = new Listener(environment);
  const state = new SharedState(remote, operations, breakers, listener);
  await state.onModuleInit();
  return {
    remote,
    state,
    database,
    close: async () => {
      await remote.onApplicationShutdown();
      await state.onApplicationShutdown();
      await listener.onApplicationShutdown();
      await database.onApplicationShutdown();
    },
  };
}
