import { Injectable, Module } from '@nestjs/common';
import type { DomainEvent } from '../../src/events/catalogue.rules.js';
import { OnEvent } from '../../src/handlers/on-event.js';
import { Database } from '../../src/platform/database/database.js';

@Injectable()
export class ReminderMails {
  constructor(private readonly database: Database) {}

  /**
   * Inserts the mail for a program of yours that knows the mail addresses. The primary key is the id of the event, so a repeated call
   * changes nothing.
   */
  @OnEvent('invitation.reminder_due')
  async write({ id, data }: DomainEvent<'invitation.reminder_due'>): Promise<void> {
    const { invitationId, tenantReference, locale, cause, attempt, attempts } = data;
    // The user has been erased meanwhile.
    if (tenantReference === null) return;
    await this.database.query(
      `INSERT INTO reminder_mails (event_id, invitation_id, customer, locale, cause, is_last) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (event_id) DO NOTHING`,
      [id, invitationId, tenantReference, locale, cause, attempt === attempts],
    );
  }
}

@Module({ providers: [ReminderMails] })
export class ReminderMailsModule {}
