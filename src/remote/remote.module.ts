import { Module } from '@nestjs/common';
import { ContractDrift } from './drift/contract-drift.service.js';
import { Deployment } from './shared/deployment.service.js';
import { DriftStore } from './drift/drift.store.js';
import { OperationsStore } from './shared/operations.store.js';
import { Remote } from './remote.service.js';
import { ReplicasStore } from './shared/replicas.store.js';

@Module({
  providers: [Remote, Deployment, OperationsStore, ReplicasStore, ContractDrift, DriftStore],
  exports: [Remote, ContractDrift],
})
export class RemoteModule {}
