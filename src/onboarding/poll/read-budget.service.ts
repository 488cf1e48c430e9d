import { Injectable } from '@nestjs/common';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { BackgroundTasks, task } from '../../platform/tasks/background-tasks.js';
import { STATEMENT_TIMEOUT_MS } from '../../platform/database/connection/settings.js';
import { Environment } from '../../platform/env/environment.js';
import { allowedPerSecond, nextShortage, stretchFor, wantedPerSecond } from '../rules/read-budget.rules.js';
import { scheduleSettings } from '../rules/schedule.rules.js';
import { LearnedSchedules } from './learned-schedules.js';
import { DUE_MEASURE, ReadBudgetStore, type Budget, type BudgetMeasure } from './read-budget.store.js';

/** The pause between two measures is POLL_MIN_INTERVAL_MS, but at most MOST_PERIOD_MS and at least LEAST_PERIOD_MS. */
const MOST_PERIOD_MS = 15_000;
const LEAST_PERIOD_MS = 1_000;
/** The pause after a scan, in multiples of its duration. So the sessions are scanned for at most 2 % of the time. */
const PAUSE_PER_SCAN = 50;
/** If a worker begins a scan and never finishes it, another worker may begin one after this time. No statement takes longer. */
const SCAN_MS = STATEMENT_TIMEOUT_MS;

/** Computes the stretch for all replicas. Every worker tries, but the database lets only one at a time scan the sessions. */
@Injectable()
export class ReadBudget extends BackgroundTasks {
  private readonly settings = scheduleSettings(this.environment);
  private readonly allowed = allowedPerSecond(this.environment.SCS_MAX_REQUESTS_PER_SECOND || Infinity);
  private readonly periodMs = Math.min(
    MOST_PERIOD_MS,
    Math.max(LEAST_PERIOD_MS, this.environment.POLL_MIN_INTERVAL_MS),
  );
  protected readonly tasks = [
    task({
      name: 'polls.measure_budget',
      everyMs: this.periodMs,
      due: DUE_MEASURE,
      run: () => this.measure(),
    }),
  ];

  constructor(
    private readonly budgets: ReadBudgetStore,
    private readonly learned: LearnedSchedules,
    private readonly environment: Environment,
  ) {
    super('the read budget is not computed', environment.ROLE !== 'api');
  }

  private async measure(): Promise<void> {
    const measure = await this.budgets.begin(SCAN_MS);
    if (measure === undefined) return;
    const startedAt = performance.now();
    const wanted = await this.countWanted();
    const stretch = stretchFor(wanted, this.allowed);
    const tookMs = performance.now() - startedAt;
    const budget = {
      measureAfter: new Date(measure.now.getTime() + tookMs * (1 + PAUSE_PER_SCAN)),
      stretch,
      wantedPerSecond: wanted,
      allowedPerSecond: this.allowed === Infinity ? null : this.allowed,
      ...nextShortage(measure, stretch, measure.now),
    };
    // The claim has already set the time of the next measure.
    if (isSame(measure, budget) && this.periodMs >= SCAN_MS) return;
    await this.budgets.finish(measure, budget, eventsOf(measure, budget));
  }

  /** Returns the reads per second that all sessions want at stretch 1. */
  private async countWanted(): Promise<number> {
    const groups = await this.budgets.countByAge(this.learned.brands);
    const known = groups.map((group) => ({ ...group, secondsUntilReads: this.learned.of(group) }));
    return wantedPerSecond(known, this.settings);
  }
}

const isSame = (before: BudgetMeasure, after: Budget): boolean =>
  before.stretch === after.stretch &&
  before.wantedPerSecond === after.wantedPerSecond &&
  before.allowedPerSecond === after.allowedPerSecond &&
  before.shortSince === after.shortSince &&
  before.announcedAt === after.announcedAt;

function eventsOf(before: BudgetMeasure, after: Budget): NewEvent[] {
  if ((before.announcedAt === null) === (after.announcedAt === null)) return [];
  const subject = 'read_session' as const;
  const figures = {
    operation: subject,
    since: (before.shortSince ?? before.now).toISOString(),
    stretch: round(after.stretch),
    wantedPerSecond: round(after.wantedPerSecond),
    allowedPerSecond: after.allowedPerSecond && round(after.allowedPerSecond),
  };
  if (after.announcedAt !== null) return [{ name: 'remote.budget_short', subject, data: figures }];
  const data = { ...figures, endedAt: before.now.toISOString() };
  return [{ name: 'remote.budget_sufficient', subject, data }];
}

const round = (value: number) => Math.round(value * 100) / 100;
