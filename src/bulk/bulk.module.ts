import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { BulkActionsController } from './bulk-actions.controller.js';
import { BulkActionsStore } from './bulk-actions.store.js';
import { BulkRunner } from './bulk-runner.service.js';
import { InternalRequests } from './internal-requests.js';

@Module({
  imports: [IdempotencyModule],
  controllers: [BulkActionsController],
  providers: [BulkActionsStore, BulkRunner, InternalRequests],
})
export class BulkModule {}
