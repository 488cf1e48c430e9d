import { Module } from '@nestjs/common';
import { StallsModule } from '../stalls/stalls.module.js';
import { StallListsStore } from './stall-lists.store.js';
import { StallWorkStore } from './stall-work.store.js';
import { StalledController } from './stalled.controller.js';

@Module({
  imports: [StallsModule],
  controllers: [StalledController],
  providers: [StallListsStore, StallWorkStore],
})
export class StalledModule {}
