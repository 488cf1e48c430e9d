import { Module } from '@nestjs/common';
import { StallsModule } from '../stalls/stalls.module.js';
import { UsersModule } from '../users/users.module.js';
import { DecisionsController } from './decisions.controller.js';
import { DecisionsService } from './decisions.service.js';
import { DecisionsStore } from './decisions.store.js';

/** What a person decides about a registration whose outcome is unknown or a refusal: retry, discard, resolve. */
@Module({
  imports: [StallsModule, UsersModule],
  controllers: [DecisionsController],
  providers: [DecisionsService, DecisionsStore],
})
export class DecisionsModule {}
