import { Module } from '@nestjs/common';
import { EventSignal } from './event-signal.service.js';
import { EventsStore } from './events.store.js';

/** Provides what readers of the outbox need. Writers need no module: they import `appendEvents`. */
@Module({ providers: [EventsStore, EventSignal], exports: [EventsStore, EventSignal] })
export class EventsModule {}
