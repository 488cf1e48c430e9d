import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { Deliveries } from './deliveries.service.js';
import { DeliveryQueue } from './queue.store.js';

/** Imported by the features that events are delivered to: webhooks and handlers. */
@Module({
  imports: [EventsModule],
  providers: [Deliveries, DeliveryQueue],
  exports: [Deliveries, DeliveryQueue],
})
export class DeliveryModule {}
