import { Module } from '@nestjs/common';
import { EventSignal } from './event-signal.service.js';

/** Provides what tells readers of new events. Writers need no module: they import `appendEvents`. */
@Module({ providers: [EventSignal], exports: [EventSignal] })
export class EventsModule {}
