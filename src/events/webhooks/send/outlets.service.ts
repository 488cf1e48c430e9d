import { Injectable } from '@nestjs/common';
import { Environment } from '../../../platform/env/environment.js';
import { Metrics } from '../../../observability/metrics/metrics.js';
import { Deliveries } from '../../deliver/deliveries.service.js';
import { WebhookAttemptsStore } from './attempts.store.js';
import { WebhookSender } from './sender.service.js';
import { WebhookOutlet } from './webhook-outlet.js';

const OUTCOMES = { delivered: 'delivered', pending: 'failed', failed: 'given_up' } as const;

/** Lets this process deliver to webhook endpoints. */
@Injectable()
export class WebhookOutlets {
  constructor(
    deliveries: Deliveries,
    store: WebhookAttemptsStore,
    sender: WebhookSender,
    { EVENT_SOURCE: source, WEBHOOK_RETRY_SCHEDULE_MS: schedule }: Environment,
    metrics: Metrics,
  ) {
    const attempts = metrics.counter({
      name: 'pv_onboarding_webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook endpoint, by outcome: delivered, failed and to be retried, given up',
      labels: ['outcome'],
    });
    deliveries.serve(
      '',
      (id) =>
        new WebhookOutlet(id, store, sender, { source, schedule }, ({ plan }) =>
          attempts.inc({ outcome: OUTCOMES[plan.status] }),
        ),
    );
  }
}
