import { DateTime } from 'luxon';
import type { EventPayloads } from '../../events/catalogue.rules.js';
import type { Environment } from '../../platform/env/environment.js';
import { LIVE, type InvitationFacts, type InvitationState, type StepFacts } from '../invitation.rules.js';
import { causeOfStep, isUnreachable } from '../invitation.stall.rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface ReminderSchedule {
  /** The hours after the creation at which reminders are due, ascending. The last call is an additional reminder. */
  readonly afterHours: readonly number[];
  readonly timeZone: string;
  /** The quiet hours, in minutes of the local day. They include midnight if `from` is greater than `to`. Null: there are none. */
  readonly quietHours: { readonly from: number; readonly to: number } | null;
}

/** The facts of a live invitation that decide about its reminders. */
export interface RemindedInvitation extends StepFacts, Pick<InvitationFacts, 'recoveredAt'> {
  readonly remindersSent: number;
  readonly remindedAt: Date | null;
}

type Settings = Pick<Environment, 'REMINDER_SCHEDULE_HOURS' | 'TIME_ZONE' | 'REMINDER_QUIET_HOURS'>;

export type Reminder = Pick<EventPayloads['invitation.reminder_due'], 'attempt' | 'attempts' | 'cause'>;

interface ReminderPlan {
  /** The reminder to announce now, else null. */
  readonly reminder: Reminder | null;
  /** When to plan again; null if there will be no further reminder. */
  readonly dueAt: Date | null;
}

/** An owner who has left the page open continues without a reminder. */
const CONTINUES_WITHIN_MS = 30_000;
const NO_MORE: ReminderPlan = { reminder: null, dueAt: null };

export function scheduleOf(afterHours: readonly number[], timeZone: string, quiet: string): ReminderSchedule {
  const [from = 0, to = 0] = quiet.split('-').map(minutesOf);
  return {
    afterHours: [...new Set(afterHours)].filter((hours) => hours > 0).sort((one, other) => one - other),
    timeZone,
    quietHours: quiet === 'off' ? null : { from, to },
  };
}

export const scheduleIn = ({ REMINDER_SCHEDULE_HOURS, TIME_ZONE, REMINDER_QUIET_HOURS }: Settings) =>
  scheduleOf(REMINDER_SCHEDULE_HOURS, TIME_ZONE, REMINDER_QUIET_HOURS);

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

/**
 * Returns whether a reminder of a live invitation is due, and when to plan again. Several missed instants make one reminder. No reminder is
 * due within 24 hours of the one before, or of the owner's last step. The last call is due a day before the expiry, but not before the
 * first of the other reminders. While the owner cannot be reached, none is due, and it is planned again every day. Reads the step and not the stall, because reminders are due by their schedule, before the step is late.
 */
export function planReminder(
  invitation: RemindedInvitation,
  schedule: ReminderSchedule,
  now: Date,
): ReminderPlan {
  const { createdAt, openedAt, startedAt, wishedAt, wishDueAt, expiresAt, remindedAt } = invitation;
  const attempts = schedule.afterHours.length + 1;
  const isForOwner = invitation.awaits !== 'installation' && invitation.wishFailedAt === null;
  if (!isForOwner) return NO_MORE;
  const recovered = isUnreachable(invitation) ? null : planRecovered(invitation, schedule, now);
  if (recovered !== null) return recovered;
  if (invitation.remindersSent >= attempts) return NO_MORE;
  if (isUnreachable(invitation)) {
    const dueAt = new Date(now.getTime() + DAY_MS);
    return dueAt < expiresAt ? { reminder: null, dueAt } : NO_MORE;
  }
  const instants = schedule.afterHours.map((hours) => createdAt.getTime() + hours * HOUR_MS);
  const lastCallAt = Math.max(expiresAt.getTime() - DAY_MS, ...instants.slice(0, 1));
  const next = [...instants.filter((at) => at < lastCallAt), lastCallAt].find(
    (at) => at > (remindedAt ?? createdAt).getTime(),
  );
  if (next === undefined) return NO_MORE;
  const steps = [openedAt, startedAt, wishedAt, remindedAt, wishDueAt && now];
  const notBefore = Math.max(...steps.map((at) => at?.getTime() ?? 0)) + DAY_MS;
  const dueAt = afterQuietHours(new Date(Math.max(next, notBefore, now.getTime())), schedule);
  if (dueAt >= expiresAt) return NO_MORE;
  if (dueAt > now) return { reminder: null, dueAt };
  const attempt = invitation.remindersSent + 1;
  const cause = now.getTime() >= lastCallAt ? 'expiring_soon' : causeOfStep(invitation);
  const after = planReminder({ ...invitation, remindersSent: attempt, remindedAt: now }, schedule, now);
  return { reminder: { attempt, attempts, cause }, dueAt: after.dueAt };
}

/**
 * Returns the reminder that tells an owner who had to wait that the remote service has taken the start. Null if the owner did not wait, or
 * has continued or been reminded since. It is in addition to those of the schedule.
 */
function planRecovered(
  invitation: RemindedInvitation,
  schedule: ReminderSchedule,
  now: Date,
): ReminderPlan | null {
  const { recoveredAt, wishedAt, wishDueAt, remindedAt, expiresAt } = invitation;
  const since = Math.max(wishedAt?.getTime() ?? 0, remindedAt?.getTime() ?? 0);
  if (recoveredAt === null || wishDueAt !== null || recoveredAt.getTime() <= since) return null;
  const soonest = Math.max(recoveredAt.getTime() + CONTINUES_WITHIN_MS, now.getTime());
  const dueAt = afterQuietHours(new Date(soonest), schedule);
  if (dueAt >= expiresAt) return null;
  if (dueAt > now) return { reminder: null, dueAt };
  const attempt = invitation.remindersSent + 1;
  const attempts = Math.max(attempt, schedule.afterHours.length + 1);
  const after = planReminder({ ...invitation, remindersSent: attempt, remindedAt: now }, schedule, now);
  return { reminder: { attempt, attempts, cause: 'recovered' }, dueAt: after.dueAt };
}

/** Returns when the next reminder of the schedule is due if nothing changes. Null if none is planned. */
export function nextReminderAt(
  invitation: RemindedInvitation & { readonly state: InvitationState },
  schedule: ReminderSchedule,
  now: Date,
): Date | null {
  const isPlanned = LIVE.includes(invitation.state) && schedule.afterHours.length > 0;
  if (!isPlanned || isUnreachable(invitation)) return null;
  const { reminder, dueAt } = planReminder(invitation, schedule, now);
  return reminder === null ? dueAt : now;
}

/** Returns for how long a person cannot send another reminder, so that no owner gets several at once; 0 if one can be sent. */
export const secondsToReminder = (
  { remindedAt }: Pick<RemindedInvitation, 'remindedAt'>,
  now: Date,
): number =>
  remindedAt === null ? 0 : Math.max(0, Math.ceil((remindedAt.getTime() + HOUR_MS - now.getTime()) / 1_000));

/** Returns the reminder that a person sends now, whatever the schedule says. It counts as one of the schedule. */
export function reminderNow(
  invitation: Pick<RemindedInvitation, 'remindersSent' | 'expiresAt' | 'openedAt' | 'startedAt'>,
  schedule: ReminderSchedule,
  now: Date,
): Reminder {
  const attempt = invitation.remindersSent + 1;
  const isLast = now.getTime() >= invitation.expiresAt.getTime() - DAY_MS;
  const cause = isLast ? 'expiring_soon' : causeOfStep(invitation);
  return { attempt, attempts: Math.max(attempt, schedule.afterHours.length + 1), cause };
}

/**
 * Returns `at`, or the end of the quiet hours that contain it. If the clocks are put forward over that end, the result is later by the
 * skipped time. If that end comes twice, because the clocks are put back, the result is the second one.
 */
export function afterQuietHours(at: Date, schedule: ReminderSchedule): Date {
  if (schedule.quietHours === null) return at;
  const { from, to } = schedule.quietHours;
  const local = DateTime.fromJSDate(at, { zone: schedule.timeZone });
  const minutes = local.hour * 60 + local.minute;
  const isEvening = from > to && minutes >= from;
  const isQuiet = isEvening || (minutes < to && (from > to || minutes >= from));
  if (!isQuiet) return at;
  // Adds the day in UTC, where every local time exists. In a time zone, the clocks may skip that time of the next day.
  const end = local
    .setZone('utc', { keepLocalTime: true })
    .plus({ days: isEvening ? 1 : 0 })
    .set({ hour: Math.floor(to / 60), minute: to % 60, second: 0, millisecond: 0 })
    .setZone(schedule.timeZone, { keepLocalTime: true })
    .getPossibleOffsets()
    .at(-1)!;
  // If the clocks skip the whole time between two quiet periods, the end of the first period lies in the second period.
  return afterQuietHours(end.toJSDate(), schedule);
}
