import { Module } from '@nestjs/common';
import { StallKinds } from '../stalls/stall-kinds.js';
import { StallsModule } from '../stalls/stalls.module.js';
import { INVERTER_STALLS } from './inverter-stalls.store.js';
import { InvertersController } from './inverters.controller.js';
import { InvertersStore } from './inverters.store.js';

@Module({ imports: [StallsModule], controllers: [InvertersController], providers: [InvertersStore] })
export class InvertersModule {
  constructor(kinds: StallKinds) {
    kinds.declare(INVERTER_STALLS);
  }
}
