import { Injectable, Module } from '@nestjs/common';
import type { DomainEvent } from '../../../../src/events/catalogue.rules.js';
import { OnEvent } from '../../../../src/handlers/on-event.js';
import { Database } from '../../../../src/platform/database/database.js';

export const CREATE_HANDLED_EVENTS = `
  CREATE TABLE handled_events (id bigserial PRIMARY KEY, event_id uuid NOT NULL, subject text NOT NULL)`;

@Injectable()
class HandledEvents {
  constructor(private readonly database: Database) {}

  @OnEvent(['session.awaiting_installation', 'session.online', 'inverter.online'], {
    handler: 'handled-events',
  })
  async record({
    id,
    subject,
  }: DomainEvent<'session.awaiting_installation' | 'session.online' | 'inverter.online'>): Promise<void> {
    await this.database.query('INSERT INTO handled_events (event_id, subject) VALUES ($1, $2)', [
      id,
      subject,
    ]);
  }
}

@Module({ providers: [HandledEvents] })
export class HandledEventsModule {}
