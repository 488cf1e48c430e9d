import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { NewEvent } from '../../events/catalogue.rules.js';
import { Loop } from '../../platform/async/loop.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import {
  allowedPerSecond,
  nextPrice,
  nextShortage,
  wantedPerSecond,
  type Shortage,
} from '../rules/price.rules.js';
import { scheduleSettings } from '../rules/schedule.rules.js';
import { ReadHabits } from './habits.service.js';
import { PriceStore, type PriceStep, type StepResult } from './price.store.js';

/** The longest period of a step. Usually it is the shortest interval between two reads of a session. */
const MOST_PERIOD_MS = 15_000;
const LEAST_PERIOD_MS = 1_000;
/** Each worker reports its reads this many times per period. A report that comes too late falsifies the reads of a step. */
const REPORTS_PER_PERIOD = 5;
/** The sessions are scanned for at most 2 % of the time. */
const PAUSE_PER_SCAN = 50;
/** While a worker scans the sessions, and if that fails, no other one scans them for this time. */
const SCAN_MS = 60_000;

/** Keeps the price of a read up to date. Every worker tries; per period, the database lets one of them do it. */
@Injectable()
export class PriceControl implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(PriceControl.name);
  private readonly settings = scheduleSettings(this.environment);
  private readonly ceilingPerSecond = this.environment.SCS_MAX_REQUESTS_PER_SECOND || Infinity;
  private readonly periodMs = Math.min(
    MOST_PERIOD_MS,
    Math.max(LEAST_PERIOD_MS, this.environment.POLL_MIN_INTERVAL_MS),
  );
  private readonly reportMs = this.periodMs / REPORTS_PER_PERIOD;
  private readonly loop = new Loop({
    step: () => this.report(),
    onError: (error, failures) => {
      if (failures === 1) this.logger.warn(`the price of a read is not updated: ${errorText(error)}`);
      return this.reportMs;
    },
  });
  private unreported = 0;

  constructor(
    private readonly prices: PriceStore,
    private readonly habits: ReadHabits,
    private readonly environment: Environment,
  ) {}

  onApplicationBootstrap(): void {
    if (this.environment.ROLE !== 'api') this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop(STOP_WITHIN_MS.price);
  }

  /** Counts a read of the poller that the remote service served. */
  countRead(): void {
    this.unreported++;
  }

  private async report(): Promise<number> {
    const reads = this.unreported;
    const isDue = await this.prices.addReads(reads, this.periodMs);
    this.unreported -= reads;
    const step = isDue ? await this.prices.beginStep(this.periodMs) : undefined;
    if (step !== undefined) await this.prices.finishStep(step, await this.decide(step));
    return this.reportMs;
  }

  private async decide(step: PriceStep): Promise<StepResult> {
    const wantedPerSecond = await this.measure(step);
    const backlog = await this.prices.readBacklog(step.reads);
    const { ceilingPerSecond } = this;
    const readPerSecond = step.reads / step.seconds;
    const price = nextPrice(step, { ...backlog, wantedPerSecond, ceilingPerSecond, readPerSecond });
    const allowed = allowedPerSecond(ceilingPerSecond, price.capacityPerSecond);
    const shortage = nextShortage(step, price.stretch, step.now);
    const result = { ...price, ...shortage };
    return {
      ...result,
      allowedPerSecond: allowed === Infinity ? null : allowed,
      events: eventsOf(step, { ...result, wantedPerSecond }, allowed),
    };
  }

  /** Returns the reads per second that the sessions want, the last known if they cannot be scanned. */
  private async measure(step: PriceStep): Promise<number> {
    if (!step.isMeasureDue) return step.wantedPerSecond;
    await this.prices.writeMeasure(SCAN_MS, null);
    try {
      const startedAt = performance.now();
      const groups = await this.prices.countByAge(this.habits.areKnown);
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

function eventsOf(
  before: PriceStep,
  {
    stretch,
    wantedPerSecond,
    shortSince,
    announcedAt,
  }: Pick<PriceStep, 'stretch' | 'wantedPerSecond'> & Shortage,
  allowed: number,
): NewEvent[] {
  if ((before.announcedAt === null) === (announcedAt === null)) return [];
  const subject = 'read_session' as const;
  const figures = {
    operation: subject,
    stretch: round(stretch),
    wantedPerSecond: round(wantedPerSecond),
    allowedPerSecond: allowed === Infinity ? null : round(allowed),
  };
  if (announcedAt !== null) {
    const data = { ...figures, since: shortSince!.toISOString() };
    return [{ name: 'remote.budget_short', subject, data }];
  }
  const [since, endedAt] = [before.shortSince!.toISOString(), before.now.toISOString()];
  return [{ name: 'remote.budget_sufficient', subject, data: { ...figures, since, endedAt } }];
}

const round = (value: number) => Math.round(value * 100) / 100;
