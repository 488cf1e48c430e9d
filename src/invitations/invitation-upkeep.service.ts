import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { Environment } from '../platform/env/environment.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import { ANY_CHANGED, ANY_OVERDUE, CHANGE_OVERLAP_MS, DUE_WISHES } from './invitations.sql.js';
import { InvitationsStore } from './invitations.store.js';
import { LinkCodesStore } from './owner/link-codes.store.js';
import { OwnerStarts } from './owner/owner-starts.service.js';
import { scheduleIn } from './reminders/reminder.rules.js';
import { DUE_REMINDERS, RemindersStore } from './reminders/reminders.store.js';

const STOP_WITHIN_MS = stopsWithin(1_000);
const WISHES_AT_ONCE = 8;

/**
 * Retries the starts that owners have clicked and that did not succeed at once, updates invitations by their sessions, records expiries,
 * and announces reminders.
 */
@Injectable()
export class InvitationUpkeep extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'invitations.fulfil_wishes',
      everyMs: 2_000,
      due: DUE_WISHES,
      run: () => this.fulfilWishes(),
    }),
    task({ name: 'invitations.follow', everyMs: 1_000, due: ANY_CHANGED, run: () => this.follow() }),
    task({
      name: 'invitations.forget_guesses',
      everyMs: 3_600_000,
      once: 'deployment',
      run: () => this.codes.forget(),
    }),
    // Moves `since` while nothing changes, so that no run reads the changes of days.
    task({ name: 'invitations.follow_slowly', everyMs: CHANGE_OVERLAP_MS, run: () => this.follow() }),
    task({ name: 'invitations.expire', everyMs: 60_000, due: ANY_OVERDUE, run: () => this.expire() }),
    task({
      name: 'invitations.remind',
      everyMs: 20_000,
      due: DUE_REMINDERS,
      run: (stop) => this.remind(stop),
    }),
  ];
  /** By the clock of the database. */
  private since: Date | null = null;

  constructor(
    private readonly store: InvitationsStore,
    private readonly starts: OwnerStarts,
    private readonly codes: LinkCodesStore,
    private readonly reminders: RemindersStore,
    private readonly environment: Environment,
  ) {
    super('invitations could not be kept up to date', environment.ROLE !== 'api', STOP_WITHIN_MS);
  }

  // Rejected: a handler of events. It would cost two more writes for each session that comes online.
  private async follow(): Promise<void> {
    const now = await this.store.recordProgress(this.since);
    this.since = new Date(now.getTime() - CHANGE_OVERLAP_MS);
  }

  /** Returns 0 if more wishes may be due that can be fulfilled: after an outage, many owners wait. */
  private async fulfilWishes(): Promise<number | void> {
    const wishes = await this.store.claimWishes(WISHES_AT_ONCE, this.starts.retryMs);
    const begun = await Promise.all(wishes.map((wish) => this.starts.fulfil(wish, true)));
    if (wishes.length === WISHES_AT_ONCE && begun.every(({ kind }) => kind === 'started')) return 0;
  }

  private async expire(): Promise<void> {
    while (await this.store.expireOverdue());
  }

  /** Announces when owners should be reminded of their invitations. The tenant sends the mail. */
  private async remind(stop: AbortSignal): Promise<void> {
    const schedule = scheduleIn(this.environment);
    if (schedule.afterHours.length === 0) return;
    while (!stop.aborted && (await this.reminders.remind(schedule)));
  }
}
