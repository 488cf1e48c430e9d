import { Injectable } from '@nestjs/common';
import { appendEvents } from '../../events/outbox.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database } from '../../platform/database/database.js';
import { findFacts } from '../invitation-events.store.js';
import { planReminder, type RemindedInvitation, type ReminderSchedule } from './reminder.rules.js';
import * as sql from './reminders.sql.js';

/** The most invitations that one transaction plans. */
const PLAN_AT_ONCE = 200;

interface DueInvitation extends RemindedInvitation {
  readonly id: string;
  readonly now: Date;
}

@Injectable()
export class RemindersStore {
  constructor(private readonly database: Database) {}

  /** Announces the reminders that are due, and plans the next ones. Returns whether more may be due. */
  async remind(schedule: ReminderSchedule): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const due = await tx.query<DueInvitation>(sql.LOCK_DUE, [PLAN_AT_ONCE]);
      if (due.length === 0) return false;
      const plans = due.map((each) => ({ id: each.id, ...planReminder(each, schedule, each.now) }));
      await tx.query(sql.RECORD_PLANS, [
        plans.map(({ id }) => id),
        plans.map(({ reminder }) => reminder !== null),
        plans.map(({ dueAt }) => dueAt),
      ]);
      const reminders = new Map(
        plans.flatMap(({ id, reminder }) => (reminder === null ? [] : [[id, reminder]])),
      );
      const facts = await findFacts(tx, [...reminders.keys()]);
      const events = facts.map((fact) => ({
        name: 'invitation.reminder_due' as const,
        subject: fact.invitationId,
        data: { ...fact, ...reminders.get(fact.invitationId)! },
      }));
      await appendEvents(tx, events);
      return due.length === PLAN_AT_ONCE;
    }, OUTCOME);
  }
}
