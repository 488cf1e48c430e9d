import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { BulkActionsController } from './bulk-actions.controller.js';
import { BulkActionsStore } from './bulk-actions.store.js';
import { BulkRunner } from './bulk-runner.service.js';
import { RegistrationDecisionsController } from './registration-decisions.controller.js';
import { InternalRequests } from './internal-requests.js';

@Module({
  imports: [UsersModule],
  controllers: [BulkActionsController, RegistrationDecisionsController],
  providers: [BulkActionsStore, BulkRunner, InternalRequests],
})
export class BulkModule {}
