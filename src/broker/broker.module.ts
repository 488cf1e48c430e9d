import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { EventsStore } from '../feed/events.store.js';
import { Broker, Publishers } from './broker.service.js';

@Module({ imports: [EventsModule], providers: [Broker, EventsStore, Publishers] })
export class BrokerModule {}
