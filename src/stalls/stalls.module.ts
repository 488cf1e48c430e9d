import { Module } from '@nestjs/common';
import { StallKinds } from './stall-kinds.js';
import { StallTask } from './stall-task.service.js';
import { StallViews } from './stall-views.service.js';
import { StallsStore } from './stalls.store.js';

@Module({
  providers: [StallKinds, StallTask, StallViews, StallsStore],
  exports: [StallKinds, StallViews, StallsStore],
})
export class StallsModule {}
