import { Injectable } from '@nestjs/common';
import { isExecuted, recordAudit } from '../../access/audit-log.store.js';
import { currentExecution } from '../../access/execution.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database, prepared, type Transaction } from '../../platform/database/database.js';
import { withoutRefusedRows, type Work } from '../../platform/database/refused-rows.js';
import { isSent } from '../../remote/shared/operations.store.js';
import { announceAs } from '../invitation-events.store.js';
import { reminderConflict, type InvitationConflict, type InvitationState } from '../invitation.rules.js';
import { IS_HELD_UP, LIVE, STATE, STEP_FACTS } from '../invitations.sql.js';
import {
  planReminder,
  reminderNow,
  secondsToReminder,
  type RemindedInvitation,
  type Reminder,
  type ReminderSchedule,
} from './reminder.rules.js';

/** The most invitations that one transaction plans. */
const PLAN_AT_ONCE = 200;

interface DueInvitation extends RemindedInvitation {
  readonly id: string;
  readonly state: InvitationState;
  readonly now: Date;
}

/** None is due while the remote service takes no starts, or the brand fails: an owner who comes then could not begin. */
const IS_DUE = `i.reminder_due_at <= now() AND ${LIVE} AND ${isSent('start_session')} AND NOT (${IS_HELD_UP})`;

export const DUE_REMINDERS = `SELECT FROM invitations i WHERE ${IS_DUE}`;

const SELECT_REMINDED = `
    SELECT i.id, ${STATE} AS state, ${STEP_FACTS}, i.recovered_at AS "recoveredAt", i.reminders_sent AS "remindersSent",
           i.reminded_at AS "remindedAt", now() AS now
      FROM invitations i`;

/** Locks at most $1 live invitations of which a reminder may be due. Skips those that another replica has locked. */
export const LOCK_DUE = prepared('reminders.lock_due')`
    ${SELECT_REMINDED}
     WHERE ${IS_DUE}
     ORDER BY i.reminder_due_at LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Records for each invitation of $1 whether it is reminded, and when to plan again. */
const RECORD_PLANS = prepared('reminders.record_plans')`
    UPDATE invitations i
       SET reminder_due_at = plan.due_at, reminders_sent = i.reminders_sent + plan.is_reminded::int,
           reminded_at = CASE WHEN plan.is_reminded THEN now() ELSE i.reminded_at END
      FROM unnest($1::uuid[], $2::boolean[], $3::timestamptz[]) AS plan (id, is_reminded, due_at)
     WHERE i.id = plan.id RETURNING i.id`;

export const LOCK_INVITATION = `${SELECT_REMINDED} WHERE i.id = $1 FOR UPDATE`;

const RECORD_REMINDER = `
    UPDATE invitations SET reminders_sent = reminders_sent + 1, reminded_at = now() WHERE id = $1`;

@Injectable()
export class RemindersStore {
  constructor(private readonly database: Database) {}

  /** Announces the reminders that are due, and plans the next ones. Returns whether more may be due. */
  async remind(schedule: ReminderSchedule): Promise<boolean> {
    const work: Work<boolean> = async (tx, changeRows, spare) => {
      const due = await tx.query<DueInvitation>(LOCK_DUE, [PLAN_AT_ONCE + spare]);
      if (due.length === 0) return false;
      const all = new Map(due.map((each) => [each.id, planReminder(each, schedule, each.now)]));
      const recorded = await changeRows([...all.keys()], (ids) =>
        tx.query<{ id: string }>(RECORD_PLANS, [
          ids,
          ids.map((id) => all.get(id)!.reminder !== null),
          ids.map((id) => all.get(id)!.dueAt),
        ]),
      );
      const plans = recorded.map(({ id }) => ({ id, ...all.get(id)! }));
      const reminders = new Map(
        plans.flatMap(({ id, reminder }) => (reminder === null ? [] : [[id, reminder]])),
      );
      await announceReminders(tx, reminders);
      return plans.length >= PLAN_AT_ONCE;
    };
    return withoutRefusedRows(this.database, work, OUTCOME);
  }

  /** Announces a reminder of an invitation now, unless a rule says why or for how long not. Returns null if there is no such invitation. */
  async remindNow(
    id: string,
    schedule: ReminderSchedule,
    actor: string,
  ): Promise<(InvitationConflict & { readonly retryAfterSeconds: number }) | null> {
    return this.database.transaction(async (tx) => {
      const [locked] = await tx.query<DueInvitation>(LOCK_INVITATION, [id]);
      if (locked === undefined) return null;
      const executionId = currentExecution()?.id;
      if (executionId !== undefined && (await isExecuted(tx, id, executionId)))
        return { conflict: null, retryAfterSeconds: 0 };
      const conflict = reminderConflict(locked);
      const retryAfterSeconds = secondsToReminder(locked, locked.now);
      if (conflict !== null || retryAfterSeconds > 0) return { conflict, retryAfterSeconds };
      const reminder = reminderNow(locked, schedule, locked.now);
      await tx.query(RECORD_REMINDER, [id]);
      await announceReminders(tx, new Map([[id, reminder]]));
      await recordAudit(tx, {
        ...{ actor, action: 'invitation.reminded', target: id },
        details: { attempt: reminder.attempt, executionId },
      });
      return { conflict, retryAfterSeconds };
    }, OUTCOME);
  }
}

const announceReminders = (tx: Transaction, reminders: ReadonlyMap<string, Reminder>): Promise<void> =>
  announceAs(tx, [...reminders.keys()], (facts) => ({
    name: 'invitation.reminder_due',
    subject: facts.invitationId,
    data: { ...facts, ...reminders.get(facts.invitationId)! },
  }));
