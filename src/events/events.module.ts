import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Deliveries } from './deliver/deliveries.service.js';
import { DeliveryQueue } from './deliver/queue.store.js';
import { EventSignal } from './event-signal.service.js';
import { EventHandlers } from './handlers/handlers.service.js';
import { EventsController } from './feed/events.controller.js';
import { EventsStore } from './feed/events.store.js';
import { EventPages } from './stream/event-pages.service.js';
import { OpenStreams } from './stream/open-streams.service.js';
import { StreamController } from './stream/stream.controller.js';

/** Provides the readers of the outbox. Writers need no module: they import `appendEvents`. */
@Module({
  imports: [DiscoveryModule],
  controllers: [EventsController, StreamController],
  providers: [EventsStore, EventSignal, Deliveries, DeliveryQueue, EventHandlers, EventPages, OpenStreams],
  exports: [EventsStore, EventSignal, Deliveries, DeliveryQueue],
})
export class EventsModule {}
