import { Module } from '@nestjs/common';
import { BulkActionsController } from './bulk-actions.controller.js';
import { BulkActionsStore } from './bulk-actions.store.js';
import { BulkRunner } from './bulk-runner.service.js';
import { InternalRequests } from './internal-requests.js';

@Module({
  controllers: [BulkActionsController],
  providers: [BulkActionsStore, BulkRunner, InternalRequests],
})
export class BulkModule {}
