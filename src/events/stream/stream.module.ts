import { Module } from '@nestjs/common';
import { EventsModule } from '../events.module.js';
import { EventTail } from './event-tail.service.js';
import { OpenStreams } from './open-streams.service.js';
import { StreamController } from './stream.controller.js';

/** Events over a connection that stays open; what `GET /events` answers page by page. */
@Module({
  imports: [EventsModule],
  controllers: [StreamController],
  providers: [EventTail, OpenStreams],
  exports: [OpenStreams],
})
export class EventStreamModule {}
