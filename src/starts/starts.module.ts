import { Module } from '@nestjs/common';
import { StallsModule } from '../stalls/stalls.module.js';
import { StartsController } from './starts.controller.js';

@Module({ imports: [StallsModule], controllers: [StartsController] })
export class StartsModule {}
