import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Broker, Publishers } from './broker/broker.service.js';
import { EventSignal } from './event-signal.service.js';
import { EventHandlers } from './handlers/handlers.service.js';
import { EventsController } from './feed/events.controller.js';
import { EventsStore } from './feed/events.store.js';

/** The readers of the outbox. Writers need no module: they import `appendEvents`. */
@Module({
  imports: [DiscoveryModule],
  controllers: [EventsController],
  providers: [EventsStore, EventSignal, EventHandlers, Broker, Publishers],
  exports: [EventsStore, EventSignal],
})
export class EventsModule {}
