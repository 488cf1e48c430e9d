import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { EventPages } from './event-pages.service.js';
import { EventsStore } from './events.store.js';
import { FeedController } from './feed.controller.js';
import { OpenStreams } from './open-streams.service.js';
import { StreamController } from './stream.controller.js';

@Module({
  imports: [EventsModule],
  controllers: [FeedController, StreamController],
  providers: [EventPages, EventsStore, OpenStreams],
})
export class FeedModule {}
