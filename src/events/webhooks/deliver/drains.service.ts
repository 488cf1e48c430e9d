import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Environment } from '../../../platform/env/environment.js';
import { Jobs } from '../../../platform/jobs/jobs.js';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { WebhookDrain } from './drain.js';
import { WebhookDrainStore } from './drain.store.js';
import { WEBHOOK_TASK, type WebhookJobPayload } from './jobs.sql.js';
import { WebhookSender } from '../send/sender.service.js';

/** Runs the delivery jobs of the endpoints. */
@Injectable()
export class WebhookDrains implements OnModuleInit {
  private readonly attempts: Counter<'outcome'>;
  private readonly running = new Map<string, WebhookDrain>();

  constructor(
    private readonly environment: Environment,
    private readonly jobs: Jobs,
    private readonly store: WebhookDrainStore,
    private readonly sender: WebhookSender,
    metrics: Metrics,
  ) {
    this.attempts = metrics.counter({
      name: 'pv_webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook endpoint, by outcome: delivered, failed and to be repeated, given up',
      labels: ['outcome'],
    });
  }

  onModuleInit(): void {
    this.jobs.register(WEBHOOK_TASK, (payload, job) =>
      this.deliver((payload as WebhookJobPayload).endpointId, job),
    );
  }

  /** Wakes the endpoint's drain if it runs in this process; without this, the drain finds new deliveries a moment later. */
  wake(endpointId: string): void {
    this.running.get(endpointId)?.wake();
  }

  private async deliver(endpointId: string, job: RunningJob): Promise<void> {
    const drain = new WebhookDrain(
      endpointId,
      {
        store: this.store,
        sender: this.sender,
        source: this.environment.EVENT_SOURCE,
        schedule: this.environment.WEBHOOK_RETRY_SCHEDULE_MS,
        onAttempt: ({ status }) => this.attempts.inc({ outcome: OUTCOMES[status] }),
      },
      job,
    );
    this.running.set(endpointId, drain);
    try {
      await drain.run();
    } finally {
      this.running.delete(endpointId);
    }
  }
}

const OUTCOMES = { delivered: 'delivered', pending: 'failed', failed: 'given_up' } as const;
