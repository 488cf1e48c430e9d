import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ManagedKeysStore } from './managed-keys.store.js';
import { RefusedRequests } from './refused-requests.service.js';

@Module({
  imports: [IdempotencyModule],
  controllers: [ApiKeysController],
  providers: [ManagedKeysStore, RefusedRequests],
})
export class ApiKeysModule {}
