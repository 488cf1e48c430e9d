import { Module } from '@nestjs/common';
import { StallKinds } from './stall-kinds.js';
import { StallListsStore } from './stall-lists.store.js';
import { StallTask } from './stall-task.service.js';
import { StallWorkStore } from './stall-work.store.js';
import { StallViews } from './stall-views.service.js';
import { StalledController } from './stalled.controller.js';
import { StallsStore } from './stalls.store.js';

@Module({
  controllers: [StalledController],
  providers: [StallKinds, StallListsStore, StallTask, StallViews, StallWorkStore, StallsStore],
  exports: [StallKinds, StallViews, StallsStore],
})
export class StallsModule {}
