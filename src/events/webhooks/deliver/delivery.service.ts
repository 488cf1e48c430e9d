import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from '../../../platform/async/backoff.rules.js';
import { Loop } from '../../../platform/async/loop.js';
import { Database } from '../../../platform/database/database.js';
import { Environment } from '../../../platform/env/environment.js';
import { Jobs } from '../../../platform/jobs/jobs.js';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { errorText } from '../../../platform/redaction/error-text.js';
import { EventSignal } from '../../event-signal.service.js';
import { sequenceEvents } from '../../sequence.sql.js';
import { WebhookSender } from '../send/sender.service.js';
import { WebhookDrain } from './drain.js';
import { WebhookDrainStore } from './drain.store.js';
import { fanOut, readBehind, resumeWebhooks } from './fan-out.sql.js';
import { WEBHOOK_TASK } from './queue.sql.js';

/** The most endpoints whose deliveries are inserted at the same time. Each endpoint takes a database connection. */
const AT_ONCE = 4;
/** The wait if other transactions have locked all endpoints. Such locks last a few milliseconds. */
const LOCKED_MS = 20;
const UPKEEP_MS = 5 * 60_000;
/** A fallback: EventSignal already wakes the loop every second. */
const LONGEST_WAIT_MS = 5_000;
const OUTCOMES = { delivered: 'delivered', pending: 'failed', failed: 'given_up' } as const;

/** Inserts webhook deliveries for new events and runs the delivery jobs of the endpoints, in every process with ROLE worker or all. */
@Injectable()
export class WebhookDelivery implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(WebhookDelivery.name);
  private readonly drains = new Map<string, WebhookDrain>();
  private readonly attempts = this.metrics.counter({
    name: 'pv_onboarding_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook endpoint, by outcome: delivered, failed and to be retried, given up',
    labels: ['outcome'],
  });
  private readonly loops = [
    new Loop({
      step: (stop) => this.catchUp(stop),
      onError: (error, failures) => {
        if (failures === 1) this.logger.warn(`events could not be queued for webhooks: ${errorText(error)}`);
        return backoffMs({ firstMs: LOCKED_MS, mostMs: LONGEST_WAIT_MS }, failures);
      },
      wakeUp: this.events,
    }),
    new Loop({
      step: () => this.maintain(),
      onError: (error, failures) => {
        if (failures === 1) this.logger.warn(`webhooks could not be resumed: ${errorText(error)}`);
        return UPKEEP_MS;
      },
    }),
  ];

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
    private readonly events: EventSignal,
    private readonly store: WebhookDrainStore,
    private readonly sender: WebhookSender,
    private readonly metrics: Metrics,
    jobs: Jobs,
  ) {
    jobs.register(WEBHOOK_TASK, (payload, job) =>
      this.deliver((payload as { endpointId: string }).endpointId, job),
    );
  }

  onApplicationBootstrap(): void {
    if (this.environment.ROLE !== 'api') for (const loop of this.loops) loop.start();
  }

  onModuleDestroy(): void {
    for (const loop of this.loops) void loop.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  /** Inserts deliveries until all endpoints are up to date. If that fails for an endpoint, the next call retries it. */
  private async catchUp(stop: AbortSignal): Promise<number> {
    const failed = new Set<string>();
    while (!stop.aborted) {
      const { unsequenced, behind } = await readBehind(this.database);
      const due = behind.filter((id) => !failed.has(id));
      if (!unsequenced && due.length === 0) break;
      if (unsequenced) await sequenceEvents(this.database);
      else await this.fanOutTo(due, failed);
    }
    return LONGEST_WAIT_MS;
  }

  private async fanOutTo(endpointIds: string[], failed: Set<string>): Promise<void> {
    let locked = 0;
    const work = async (): Promise<void> => {
      for (let id = endpointIds.shift(); id !== undefined; id = endpointIds.shift()) {
        try {
          const result = await fanOut(this.database, id);
          if (result.locked) locked += 1;
          // Without this, a drain in this process would notice the deliveries only after its wait.
          if (result.written > 0) this.drains.get(id)?.wake();
        } catch (error) {
          failed.add(id);
          this.logger.warn({
            message: `events could not be queued for a webhook endpoint: ${errorText(error)}`,
            endpointId: id,
          });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (locked === 0) await sleep(LOCKED_MS);
  }

  private async maintain(): Promise<number> {
    const resumed = await resumeWebhooks(this.database);
    if (resumed > 0) this.logger.warn(`added the missing jobs of ${resumed} webhook endpoints`);
    return UPKEEP_MS;
  }

  private async deliver(endpointId: string, job: RunningJob): Promise<void> {
    const drain = new WebhookDrain(endpointId, this.store, this.sender, this.environment, job, ({ status }) =>
      this.attempts.inc({ outcome: OUTCOMES[status] }),
    );
    this.drains.set(endpointId, drain);
    try {
      await drain.run();
    } finally {
      this.drains.delete(endpointId);
    }
  }
}
