import type { Connections } from '../../../platform/http-client/connections.js';
import { STOP_WITHIN_MS } from '../../../platform/shutdown/limits.js';
import type { NewSpan } from '../../../observability/tracing/span.js';
import { traced } from '../../../observability/tracing/tracing.js';
import { toCloudEvent, toEventType } from '../../cloud-event.js';
import type { Attempt, DueDelivery, Outlet } from '../../deliver/outlet.js';
import type { SendOutcome } from '../../deliver/send-outcome.js';
import type { WebhookAttemptsStore, EndpointHealth } from './attempts.store.js';
import { placesOf, planHealth } from './endpoint-health.rules.js';
import type { Destination, WebhookSender } from './sender.service.js';

/** The interval at which the endpoint is read again, to notice that it was changed or disabled. */
const REFRESH_MS = 1_000;

interface Settings {
  readonly source: string;
  /** The ms to wait after each failed attempt. */
  readonly schedule: readonly number[];
}

/** Sends the events of one webhook endpoint, as last read or written. Once it has found the endpoint disabled or deleted, it stays closed. */
export class WebhookOutlet implements Outlet {
  readonly stopWithinMs = STOP_WITHIN_MS.webhooks;
  isClosed = false;
  /** Set by the first `refresh` that finds the endpoint. */
  private health!: EndpointHealth;
  private healthReadAtMs = performance.now();
  private readonly opened: Connections[] = [];
  private settings: Destination | undefined;
  private refreshedAtMs = -Infinity;

  constructor(
    private readonly id: string,
    private readonly store: WebhookAttemptsStore,
    private readonly sender: WebhookSender,
    private readonly options: Settings,
    readonly report: (attempt: Attempt) => void,
  ) {}

  get destination(): string {
    return this.settings!.url;
  }

  async refresh(): Promise<void> {
    if (this.isClosed || performance.now() - this.refreshedAtMs < REFRESH_MS) return;
    const found = await this.store.findEndpoint(this.id);
    this.refreshedAtMs = performance.now();
    if (found !== null && found.destination.url !== this.settings?.url)
      this.opened.push(this.sender.open(found.destination.url));
    this.settings = found?.destination;
    this.setHealth(found?.health ?? null);
  }

  placesAfter(outcomes: readonly SendOutcome[]): number {
    if (this.isClosed) return 0;
    const now = this.now();
    const health = planHealth(this.health, outcomes, now);
    const isQuiet = health.quietUntil !== null && health.quietUntil > now;
    return isQuiet ? 0 : placesOf(health);
  }

  waitAfter(failures: number): number | undefined {
    return this.options.schedule[failures];
  }

  send(delivery: DueDelivery): Promise<SendOutcome> {
    const body = JSON.stringify(toCloudEvent(delivery, this.options.source));
    return traced(this.spanOf(delivery), async (span) => {
      const message = { id: delivery.id, body, timestamp: new Date(), traceparent: span.traceparent };
      const sent = await this.sender.sendOver(this.opened.at(-1)!, this.settings!, message);
      if (sent.status !== null) span.set({ 'http.response.status_code': sent.status });
      if (sent.kind !== 'delivered') span.fail(String(sent.status ?? sent.kind));
      return sent;
    });
  }

  async record(attempts: readonly Attempt[]): Promise<boolean> {
    const { health, isThereMore, isMoved } = await this.store.record(this.id, this.health, attempts);
    this.setHealth(health);
    // Otherwise, a delivery that is due at once could go to the old URL again and again.
    if (isMoved) this.refreshedAtMs = -Infinity;
    return isThereMore;
  }

  async close(): Promise<void> {
    await Promise.all(this.opened.map((connections) => connections.close()));
  }

  /** Null means that the endpoint is disabled or deleted. */
  private setHealth(health: EndpointHealth | null): void {
    if (health === null) this.isClosed = true;
    else if (health !== this.health) {
      this.health = health;
      this.healthReadAtMs = performance.now();
    }
  }

  /** Returns the time of the database, extrapolated by the monotonic clock of this process. */
  private now(): Date {
    return new Date(this.health.now.getTime() + performance.now() - this.healthReadAtMs);
  }

  private spanOf({ id, name, traceparent, attempts }: DueDelivery): NewSpan {
    const attributes = {
      'cloudevents.event_id': id,
      'cloudevents.event_type': toEventType(name),
      'pv_onboarding.webhook_endpoint.id': this.id,
      'http.request.method': 'POST',
      'http.request.resend_count': attempts,
    };
    return { name: `webhook ${name}`, kind: 'client', parent: traceparent ?? null, attributes };
  }
}
