import { Logger } from '@nestjs/common';
import { Database } from '../../../src/platform/database/database.js';
import { Breakers } from '../../../src/remote/shared/breakers.service.js';
import { BreakersStore } from '../../../src/remote/shared/breakers.store.js';
import { Deployment } from '../../../src/remote/shared/deployment.service.js';
import { Metrics } from '../../../src/observability/metrics/metrics.js';
import { RecentRequests } from '../../../src/observability/metrics/recent-requests.js';
import { Signs } from '../../../src/remote/shared/signs.js';
import { DeploymentStore } from '../../../src/remote/shared/deployment.store.js';
import { Remote } from '../../../src/remote/remote.service.js';
import type { Environment } from '../../../src/platform/env/environment.js';
import { remoteEnvironment } from '../../e2e/remote/fixture.js';

// Disables logging, because these tests provoke warnings.
Logger.overrideLogger(false);

export interface RemoteReplica {
  readonly remote: Remote;
  readonly deployment: Deployment;
  readonly database: Database;
  close(): Promise<void>;
}

/** Starts the part of a replica that calls the remote service, with its own database connections and state. */
export async function startRemoteReplica(
  overrides: Partial<Environment>,
  storeOf = (database: Database): DeploymentStore => new DeploymentStore(database),
): Promise<RemoteReplica> {
  const environment = remoteEnvironment(overrides);
  const database = new Database(environment);
  const remote = new Remote(environment);
  const signs = new Signs(database, new RecentRequests(new Metrics()));
  const breakers = new Breakers(remote, new BreakersStore(database), environment);
  const deployment = new Deployment(remote, storeOf(database), signs, breakers, environment);
  await deployment.onModuleInit();
  return {
    remote,
    deployment,
    database,
    close: async () => {
      await remote.onApplicationShutdown();
      await deployment.onApplicationShutdown();
      await database.onApplicationShutdown();
    },
  };
}
