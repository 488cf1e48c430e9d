import { Module } from '@nestjs/common';
import { ContractDrift } from './contract-drift.service.js';
import { Deployment } from './deployment.service.js';
import { DriftStore } from './drift.store.js';
import { OperationsStore } from './operations.store.js';
import { Remote } from './remote.service.js';
import { ReplicasStore } from './replicas.store.js';

@Module({
  providers: [Remote, Deployment, OperationsStore, ReplicasStore, ContractDrift, DriftStore],
  exports: [Remote, ContractDrift],
})
export class RemoteModule {}
