import { Module } from '@nestjs/common';
import { StallsModule } from '../stalls/stalls.module.js';
import { StalledController } from './stalled.controller.js';
import { StalledStore } from './stalled.store.js';

@Module({ imports: [StallsModule], controllers: [StalledController], providers: [StalledStore] })
export class StalledModule {}
