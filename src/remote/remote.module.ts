import { Module } from '@nestjs/common';
import { ContractDrift } from './drift/contract-drift.service.js';
import { Remote } from './remote.service.js';
import { RemoteMetrics } from './remote-metrics.js';
import { Deployment } from './shared/deployment.service.js';
import { DeploymentStore } from './shared/deployment.store.js';
import { Signs } from './shared/signs.js';

@Module({
  providers: [Remote, Deployment, DeploymentStore, Signs, ContractDrift, RemoteMetrics],
  exports: [Remote, ContractDrift],
})
export class RemoteModule {}
