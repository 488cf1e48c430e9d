import { Module } from '@nestjs/common';
import { EventsModule } from '../events.module.js';
import { EventPages } from './event-pages.service.js';
import { OpenStreams } from './open-streams.service.js';
import { StreamController } from './stream.controller.js';

@Module({
  imports: [EventsModule],
  controllers: [StreamController],
  providers: [EventPages, OpenStreams],
  exports: [OpenStreams],
})
export class EventStreamModule {}
