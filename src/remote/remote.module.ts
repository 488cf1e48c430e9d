import { Module } from '@nestjs/common';
import { ContractDrift } from './drift/contract-drift.service.js';
import { Remote } from './remote.service.js';
import { RemoteMetrics } from './remote-metrics.js';
import { Breakers } from './shared/breakers.service.js';
import { BreakersStore } from './shared/breakers.store.js';
import { Deployment } from './shared/deployment.service.js';
import { DeploymentStore } from './shared/deployment.store.js';
import { Signs } from './shared/signs.js';

@Module({
  providers: [
    Remote,
    Deployment,
    DeploymentStore,
    Signs,
    Breakers,
    BreakersStore,
    ContractDrift,
    RemoteMetrics,
  ],
  exports: [Remote, ContractDrift],
})
export class RemoteModule {}
