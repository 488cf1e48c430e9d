import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { Broker, Publishers } from './broker.service.js';

@Module({ imports: [EventsModule], providers: [Broker, Publishers] })
export class BrokerModule {}
