import { Module } from '@nestjs/common';
import { Remote } from './remote.service.js';
import { RemoteMetrics } from './remote-metrics.js';
import { Responses } from './responses.service.js';
import { Breakers } from './shared/breakers.service.js';
import { OperationsStore } from './shared/operations.store.js';
import { SharedState } from './shared/shared-state.service.js';

@Module({
  providers: [Remote, SharedState, OperationsStore, Breakers, Responses, RemoteMetrics],
  exports: [Remote, Responses],
})
export class RemoteModule {}
