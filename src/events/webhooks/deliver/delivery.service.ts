import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../../platform/async/background-tasks.js';
import { backoffMs } from '../../../platform/async/backoff.rules.js';
import { Loop } from '../../../platform/async/loop.js';
import { Database } from '../../../platform/database/database.js';
import { Environment } from '../../../platform/env/environment.js';
import { Jobs } from '../../../platform/jobs/jobs.js';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import { Metrics } from '../../../observability/metrics/metrics.js';
import { errorText } from '../../../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../../platform/shutdown/limits.js';
import { EventSignal } from '../../event-signal.service.js';
import { sequenceEvents } from '../../sequence.sql.js';
import { WebhookSender } from '../send/sender.service.js';
import { WebhookDrain } from './drain.js';
import { WebhookDrainStore } from './drain.store.js';
import { fanOut, findBehind, resumeWebhooks } from './fan-out.sql.js';
import { WEBHOOK_TASK } from './queue.sql.js';

/** The most endpoints whose deliveries are inserted at the same time. Each endpoint takes a database connection. */
const AT_ONCE = 4;
/** The wait if other transactions have locked all endpoints. Such locks last a few milliseconds. */
const LOCKED_MS = 20;
/** A fallback: EventSignal already wakes the loop every second. */
const LONGEST_WAIT_MS = 5_000;
const OUTCOMES = { delivered: 'delivered', pending: 'failed', failed: 'given_up' } as const;

/** Inserts webhook deliveries for new events and runs the delivery jobs of the endpoints, in every process with ROLE worker or all. */
@Injectable()
export class WebhookDelivery extends BackgroundTasks {
  protected readonly tasks = [{ everyMs: 5 * 60_000, run: () => this.maintain() }];
  private readonly drains = new Map<string, WebhookDrain>();
  private readonly attempts = this.metrics.counter({
    name: 'pv_onboarding_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook endpoint, by outcome: delivered, failed and to be retried, given up',
    labels: ['outcome'],
  });
  private readonly catchingUp = new Loop({
    step: (stop) => this.catchUp(stop),
    onError: (error, failures) => {
      if (failures === 1) this.logger.warn(`events could not be queued for webhooks: ${errorText(error)}`);
      return backoffMs({ firstMs: LOCKED_MS, mostMs: LONGEST_WAIT_MS }, failures);
    },
    wakeUp: this.events,
  });

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
    private readonly events: EventSignal,
    private readonly store: WebhookDrainStore,
    private readonly sender: WebhookSender,
    private readonly metrics: Metrics,
    jobs: Jobs,
  ) {
    super({
      runs: environment.ROLE !== 'api',
      failure: 'webhooks could not be resumed',
      stopWithinMs: STOP_WITHIN_MS.jobs,
    });
    jobs.register(WEBHOOK_TASK, (payload, job) =>
      this.deliver((payload as { endpointId: string }).endpointId, job),
    );
  }

  override onApplicationBootstrap(): void {
    super.onApplicationBootstrap();
    if (this.environment.ROLE !== 'api') this.catchingUp.start();
  }

  override async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([super.beforeApplicationShutdown(), this.catchingUp.stop()]);
  }

  /** Inserts deliveries until all endpoints are up to date. If that fails for an endpoint, the next call retries it. */
  private async catchUp(stop: AbortSignal): Promise<number> {
    const failed = new Set<string>();
    while (!stop.aborted) {
      await sequenceEvents(this.database);
      const due = (await findBehind(this.database)).filter((id) => !failed.has(id));
      if (due.length === 0) break;
      await this.fanOutTo(due, failed);
    }
    return LONGEST_WAIT_MS;
  }

  private async fanOutTo(endpointIds: string[], failed: Set<string>): Promise<void> {
    let reached = 0;
    const work = async (): Promise<void> => {
      for (let id = endpointIds.shift(); id !== undefined; id = endpointIds.shift()) {
        try {
          const result = await fanOut(this.database, id);
          if (result.hasLock) reached += 1;
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
    if (reached === 0) await sleep(LOCKED_MS);
  }

  private async maintain(): Promise<void> {
    const resumed = await resumeWebhooks(this.database);
    if (resumed > 0) this.logger.warn(`added the missing jobs of ${resumed} webhook endpoints`);
  }

  private async deliver(endpointId: string, job: RunningJob): Promise<void> {
    const drain = new WebhookDrain(endpointId, this.store, this.sender, this.environment, job, ({ status }) =>
      this.attempts.inc({ outcome: OUTCOMES[status] }),
    );
    this.drains.set(endpointId, drain);
    try {
      await drain.run();
    } finally {
      // The next job may have started while this drain closed its connections.
      if (this.drains.get(endpointId) === drain) this.drains.delete(endpointId);
    }
  }
}
