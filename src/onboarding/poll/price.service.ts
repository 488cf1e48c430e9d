import { Injectable } from '@nestjs/common';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { allowedPerSecond, nextPrice, nextShortage, wantedPerSecond } from '../rules/price.rules.js';
import { scheduleSettings } from '../rules/schedule.rules.js';
import { ReadHabits } from './habits.service.js';
import { PriceStore, type PriceStep, type StepResult } from './price.store.js';

/** The longest period of a step. The usual period is POLL_MIN_INTERVAL_MS. */
const MOST_PERIOD_MS = 15_000;
const LEAST_PERIOD_MS = 1_000;
/** Each worker reports its reads this many times per period. A report that comes too late falsifies the reads of a step. */
const REPORTS_PER_PERIOD = 5;
/** The pause after a scan, in multiples of its duration: the sessions are scanned for at most 2 % of the time. */
const PAUSE_PER_SCAN = 50;
/** No worker scans the sessions for this time after a scan has begun. Once the scan has succeeded, its pause counts instead. */
const SCAN_MS = 60_000;

/** Keeps the price of a read up to date. Every worker tries; per period, the database lets one of them do it. */
@Injectable()
export class PriceControl extends BackgroundTasks {
  private readonly settings = scheduleSettings(this.environment);
  private readonly ceilingPerSecond = this.environment.SCS_MAX_REQUESTS_PER_SECOND || Infinity;
  private readonly periodMs = Math.min(
    MOST_PERIOD_MS,
    Math.max(LEAST_PERIOD_MS, this.environment.POLL_MIN_INTERVAL_MS),
  );
  protected readonly tasks = [{ everyMs: this.periodMs / REPORTS_PER_PERIOD, run: () => this.report() }];
  private unreported = 0;

  constructor(
    private readonly prices: PriceStore,
    private readonly habits: ReadHabits,
    private readonly environment: Environment,
  ) {
    super({
      runs: environment.ROLE !== 'api',
      failure: 'the price of a read is not updated',
      stopWithinMs: STOP_WITHIN_MS.price,
    });
  }

  /** Counts a read of the poller that the remote service served. */
  countRead(): void {
    this.unreported++;
  }

  private async report(): Promise<void> {
    const reads = this.unreported;
    await this.prices.addReads(reads);
    this.unreported -= reads;
    const step = await this.prices.beginStep(this.periodMs);
    if (step !== undefined) await this.prices.finishStep(step, await this.decide(step));
  }

  private async decide(step: PriceStep): Promise<StepResult> {
    const wantedPerSecond = await this.measure(step);
    const backlog = await this.prices.readBacklog(step.reads);
    const { ceilingPerSecond } = this;
    const readPerSecond = step.reads / step.seconds;
    const price = nextPrice(step, { ...backlog, wantedPerSecond, ceilingPerSecond, readPerSecond });
    const allowed = allowedPerSecond(ceilingPerSecond, price.capacityPerSecond);
    const result = {
      ...price,
      ...nextShortage(step, price.stretch, step.now),
      allowedPerSecond: allowed === Infinity ? null : allowed,
    };
    return { ...result, events: eventsOf(step, result, wantedPerSecond) };
  }

  /** Returns the reads per second that the sessions want. If they are not scanned now, returns the last figure. */
  private async measure(step: PriceStep): Promise<number> {
    if (!step.isMeasureDue) return step.wantedPerSecond;
    await this.prices.writeMeasure(SCAN_MS, null);
    try {
      const startedAt = performance.now();
      const groups = await this.prices.countByAge(this.habits.brands);
      const wanted = wantedPerSecond(
        groups.map((group) => ({ ...group, hazards: this.habits.hazardsOf(group) })),
        this.settings,
      );
      await this.prices.writeMeasure((performance.now() - startedAt) * PAUSE_PER_SCAN, wanted);
      return wanted;
    } catch (error) {
      this.logger.warn(`the sessions were not counted: ${errorText(error)}`);
      return step.wantedPerSecond;
    }
  }
}

/** Returns an event if this step announces a shortage, or the end of an announced one. */
function eventsOf(before: PriceStep, after: Omit<StepResult, 'events'>, wanted: number): NewEvent[] {
  if ((before.announcedAt === null) === (after.announcedAt === null)) return [];
  const subject = 'read_session' as const;
  const figures = {
    operation: subject,
    since: (before.shortSince ?? before.now).toISOString(),
    stretch: round(after.stretch),
    wantedPerSecond: round(wanted),
    allowedPerSecond: after.allowedPerSecond && round(after.allowedPerSecond),
  };
  if (after.announcedAt !== null) return [{ name: 'remote.budget_short', subject, data: figures }];
  const data = { ...figures, endedAt: before.now.toISOString() };
  return [{ name: 'remote.budget_sufficient', subject, data }];
}

const round = (value: number) => Math.round(value * 100) / 100;
