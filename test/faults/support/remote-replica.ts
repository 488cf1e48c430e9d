import { Logger } from '@nestjs/common';
import { Database } from '../../../src/platform/database/database.js';
import { Deployment } from '../../../src/remote/shared/deployment.service.js';
import { OperationsStore } from '../../../src/remote/shared/operations.store.js';
import { Remote } from '../../../src/remote/remote.service.js';
import { ReplicasStore } from '../../../src/remote/shared/replicas.store.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { remoteEnvironment } from '../../e2e/remote/fixture.js';

// What these tests provoke is not worth a warning in their output.
Logger.overrideLogger(false);

export interface RemoteReplica {
  readonly remote: Remote;
  readonly database: Database;
  close(): Promise<void>;
}

/** As much of a replica as calls the remote service, with connections and memory of its own. */
export async function startRemoteReplica(
  overrides: Partial<Environment>,
  operationsOf = (database: Database): OperationsStore => new OperationsStore(database),
): Promise<RemoteReplica> {
  const environment = remoteEnvironment(overrides);
  const database = new Database(environment);
  const remote = new Remote(environment);
  const deployment = new Deployment(remote, operationsOf(database), new ReplicasStore(database), environment);
  await deployment.onModuleInit();
  return {
    remote,
    database,
    close: async () => {
      await remote.onApplicationShutdown();
      await deployment.onApplicationShutdown();
      await database.onApplicationShutdown();
    },
  };
}
