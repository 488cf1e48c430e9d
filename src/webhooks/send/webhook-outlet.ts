import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { traced } from '../../platform/tracing/tracing.js';
import { toCloudEvent, toEventType } from '../../events/cloud-event.js';
import { Deliveries } from '../../delivery/deliveries.service.js';
import type { SendOutcome } from '../../delivery/delivery-plan.rules.js';
import type { Attempt, DueDelivery, Outlet } from '../../delivery/outlet.js';
import { WebhookAttemptsStore, type ServedEndpoint } from './attempts.store.js';
import { placesOf } from './endpoint-health.rules.js';
import { EndpointPlaces } from './endpoint-places.js';
import { WebhookSender } from './sender.service.js';

/** A part of the time of the deliveries. After it, the requests in flight are aborted, not recorded, and sent again later. */
const STOP_WITHIN_MS = stopsWithin(1_000);
/** The interval at which the endpoint is read again, to notice that it was changed or disabled. */
const REFRESH_MS = 1_000;

type Settings = Pick<Environment, 'EVENT_SOURCE' | 'WEBHOOK_RETRY_SCHEDULE_MS'>;

/** Sends the events of one webhook endpoint, as last read or written. Once it finds the endpoint disabled or deleted, it stays closed. */
export class WebhookOutlet implements Outlet {
  readonly stopWithinMs = STOP_WITHIN_MS;
  private readonly closing = new AbortController();
  /** Undefined before the first `refresh`; null if the endpoint is disabled or deleted. */
  private endpoint: ServedEndpoint | null | undefined;
  private readAtMs = -Infinity;

  constructor(
    private readonly id: string,
    private readonly store: WebhookAttemptsStore,
    private readonly sender: WebhookSender,
    private readonly taken: EndpointPlaces,
    private readonly settings: Settings,
    readonly report: (attempt: Attempt) => void,
  ) {}

  get isClosed(): boolean {
    return this.endpoint === null;
  }

  async refresh(): Promise<void> {
    if (this.isClosed || performance.now() - this.readAtMs < REFRESH_MS) return;
    this.set(await this.store.findEndpoint(this.id));
  }

  places(): number {
    if (!this.endpoint) return 0;
    const { quietUntil } = this.endpoint;
    const isQuiet = quietUntil !== null && quietUntil > this.now(this.endpoint);
    return isQuiet ? 0 : placesOf(this.endpoint) - this.taken.count(this.id, 'tests');
  }

  reserve(count: number): () => void {
    return this.taken.take(this.id, 'reserved', count);
  }

  waitAfter(failures: number): number | undefined {
    return this.settings.WEBHOOK_RETRY_SCHEDULE_MS[failures];
  }

  async send(delivery: DueDelivery): Promise<SendOutcome> {
    const release = this.taken.take(this.id, 'deliveries');
    try {
      return await this.attempt(delivery);
    } finally {
      release();
    }
  }

  private attempt(delivery: DueDelivery): Promise<SendOutcome> {
    const { id, name, traceparent: parent = null, attempts } = delivery;
    const body = JSON.stringify(toCloudEvent(delivery, this.settings.EVENT_SOURCE));
    const attributes = {
      'cloudevents.event_id': id,
      'cloudevents.event_type': toEventType(name),
      'pv_onboarding.webhook_endpoint.id': this.id,
      'http.request.method': 'POST',
      'http.request.resend_count': attempts,
    };
    return traced({ name: `webhook ${name}`, kind: 'client', parent, attributes }, async (span) => {
      const endpoint = this.endpoint!;
      const { destination } = endpoint;
      const message = { id, body, timestamp: this.now(endpoint), traceparent: span.traceparent };
      const sent = await this.sender.send(destination, message, this.closing.signal);
      if (sent.status !== undefined) span.set({ 'http.response.status_code': sent.status });
      if (sent.kind !== 'delivered') span.fail(String(sent.status ?? sent.kind));
      return { ...sent, url: destination.url };
    });
  }

  async record(attempts: readonly Attempt[]): Promise<boolean> {
    const { endpoint, isThereMore } = await this.store.record(this.id, this.endpoint ?? null, attempts);
    if (endpoint !== this.endpoint) this.set(endpoint);
    return isThereMore;
  }

  close(): void {
    this.closing.abort();
  }

  /** Returns the time of the database, extrapolated by the monotonic clock of this process. */
  private now({ now }: ServedEndpoint): Date {
    return new Date(now.getTime() + performance.now() - this.readAtMs);
  }

  private set(endpoint: ServedEndpoint | null): void {
    if (!this.isClosed) this.endpoint = endpoint;
    this.readAtMs = performance.now();
  }
}

const OUTCOMES = { delivered: 'delivered', pending: 'failed', failed: 'given_up' } as const;

/** Makes this process deliver to webhook endpoints. */
@Injectable()
export class WebhookOutlets {
  constructor(
    deliveries: Deliveries,
    store: WebhookAttemptsStore,
    sender: WebhookSender,
    places: EndpointPlaces,
    environment: Environment,
    metrics: Metrics,
  ) {
    const attempts = metrics.counter({
      name: 'pv_onboarding_webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook endpoint, by outcome: delivered, failed and to be retried, given up',
      labels: ['outcome'],
    });
    const report = ({ plan }: Attempt) => attempts.inc({ outcome: OUTCOMES[plan.status] });
    deliveries.serve('', (id) => new WebhookOutlet(id, store, sender, places, environment, report));
  }
}
