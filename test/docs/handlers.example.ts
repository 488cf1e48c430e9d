import { Injectable, Module } from '@nestjs/common';
import type { DomainEvent } from '../../src/events/catalogue.rules.js';
import { OnEvent } from '../../src/handlers/on-event.js';
import { Database } from '../../src/platform/database/database.js';

@Injectable()
export class WelcomeLetters {
  constructor(private readonly database: Database) {}

  /** Inserts the letter under the event's id, so that handling the event again changes nothing. */
  @OnEvent('session.online')
  async write(event: DomainEvent<'session.online'>): Promise<void> {
    const { tenantReference, invertersTotal } = event.data;
    await this.database.query(
      `INSERT INTO letters (event_id, customer, inverters) VALUES ($1, $2, $3) ON CONFLICT (event_id) DO NOTHING`,
      [event.id, tenantReference, invertersTotal],
    );
  }

  /** Handles several events; `event.name` tells them apart and narrows the type of the data. */
  @OnEvent(['session.expired', 'session.closed'], { handler: 'letters.reminder' })
  async remind(event: DomainEvent<'session.expired' | 'session.closed'>): Promise<void> {
    const reason = event.name === 'session.closed' ? event.data.reason : 'the link has expired';
    await this.database.query(
      `INSERT INTO reminders (event_id, customer, reason) VALUES ($1, $2, $3) ON CONFLICT (event_id) DO NOTHING`,
      [event.id, event.data.tenantReference, reason],
    );
  }
}

@Module({ providers: [WelcomeLetters] })
export class LettersModule {}
