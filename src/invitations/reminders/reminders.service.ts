import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { Environment } from '../../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { scheduleOf, type ReminderSchedule } from './reminder.rules.js';
import { RemindersStore } from './reminders.store.js';

const REMIND_EVERY_MS = 60_000;

/** Announces when owners should be reminded of their invitations. The tenant sends the mail. */
@Injectable()
export class Reminders extends BackgroundTasks {
  protected readonly tasks = [{ everyMs: REMIND_EVERY_MS, run: (stop: AbortSignal) => this.remind(stop) }];
  private readonly schedule: ReminderSchedule;

  constructor(
    private readonly store: RemindersStore,
    { ROLE, REMINDER_SCHEDULE_HOURS, REMINDER_QUIET_HOURS, TIME_ZONE }: Environment,
  ) {
    const schedule = scheduleOf(REMINDER_SCHEDULE_HOURS, TIME_ZONE, REMINDER_QUIET_HOURS);
    super(
      'reminders could not be announced',
      STOP_WITHIN_MS.invitations,
      ROLE !== 'api' && schedule.afterHours.length > 0,
    );
    this.schedule = schedule;
  }

  private async remind(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && (await this.store.remind(this.schedule)));
  }
}
