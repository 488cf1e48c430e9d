import { prepared } from '../../platform/database/database.js';
import { LIVE } from '../invitations.sql.js';

/** Locks at most $1 live invitations of which a reminder may be due. Skips those that another replica has locked. */
export const LOCK_DUE = prepared('reminders.lock_due')`
    SELECT i.id, i.created_at AS "createdAt", i.opened_at AS "openedAt", i.started_at AS "startedAt", i.wished_at AS "wishedAt",
           i.wish_due_at AS "wishDueAt", i.wish_failed_at AS "wishFailedAt", i.awaits, i.expires_at AS "expiresAt",
           i.reminders_sent AS "remindersSent", i.reminded_at AS "remindedAt", now() AS now
      FROM invitations i
     WHERE i.reminder_due_at <= now() AND ${LIVE}
     ORDER BY i.reminder_due_at LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Records for each invitation of $1 whether it is reminded, and when to plan again. */
export const RECORD_PLANS = prepared('reminders.record_plans')`
    UPDATE invitations i
       SET reminder_due_at = plan.due_at, reminders_sent = i.reminders_sent + plan.is_reminded::int,
           reminded_at = CASE WHEN plan.is_reminded THEN now() ELSE i.reminded_at END
      FROM unnest($1::uuid[], $2::boolean[], $3::timestamptz[]) AS plan (id, is_reminded, due_at)
     WHERE i.id = plan.id`;
