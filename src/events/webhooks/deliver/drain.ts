import { WakeUp } from '../../../platform/async/wake-up.js';
import { within } from '../../../platform/async/within.js';
import type { Environment } from '../../../platform/env/environment.js';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import { STOP_WITHIN_MS } from '../../../platform/shutdown/limits.js';
import type { NewSpan } from '../../../observability/tracing/span.js';
import { traced } from '../../../observability/tracing/tracing.js';
import { toCloudEvent, toEventType } from '../../cloud-event.js';
import { planDelivery, type DeliveryPlan } from './delivery-plan.rules.js';
import type { WebhookDrainStore } from './drain.store.js';
import { DrainedEndpoint } from './drained-endpoint.js';
import type { Attempt, DueDelivery } from './queue.sql.js';
import type { WebhookSender } from '../send/sender.service.js';

/** The most subjects claimed at a time: more than are in flight, so that the next request does not wait for the database. */
const MOST_CLAIMED = 48;
/** More subjects are claimed when fewer than this many are ready to be sent. */
const FEWEST_READY = 16;
/** The interval of claims while requests are in flight. These claims find deliveries that other processes inserted. */
const CLAIM_EVERY_MS = 200;
/** After each check that this worker still has the job, requests may be sent for this long. */
const CONFIRMED_FOR_MS = 2_000;
/** The longest time the job waits for its next delivery. If it ended instead, a new job would start up to 2 s late. */
const LINGER_MS = 2_000;

/** Delivers the pending events of one endpoint: subjects concurrently, the events of a subject in order. A crash may repeat attempts. */
export class WebhookDrain {
  private readonly endpoint: DrainedEndpoint;
  /** A subject stays claimed until its attempt is recorded. Until then, the database would return the subject again. */
  private readonly claimed = new Set<string>();
  private readonly ready: DueDelivery[] = [];
  private readonly inFlight = new Set<Promise<void>>();
  /** Attempts that are not recorded yet. */
  private readonly ended: Attempt[] = [];
  private readonly stopping = new AbortController();
  /** Signalled when an attempt has ended, and when there may be new deliveries. */
  private readonly wakeUp = new WakeUp();
  private confirmedAtMs = -Infinity;
  private claimedAtMs = -Infinity;
  private isThereMore = true;

  constructor(
    endpointId: string,
    private readonly store: WebhookDrainStore,
    sender: WebhookSender,
    private readonly environment: Pick<Environment, 'EVENT_SOURCE' | 'WEBHOOK_RETRY_SCHEDULE_MS'>,
    private readonly job: RunningJob,
    private readonly onAttempt: (plan: DeliveryPlan) => void,
  ) {
    this.endpoint = new DrainedEndpoint(endpointId, store, sender);
  }

  async run(): Promise<void> {
    try {
      while (await this.step());
    } catch (error) {
      await this.breakOff();
      throw error;
    } finally {
      await this.endpoint.disconnect();
    }
  }

  wake(): void {
    this.isThereMore = true;
    this.wakeUp.signal();
  }

  private async step(): Promise<boolean> {
    const seen = this.wakeUp.count;
    await this.job.requireLock();
    this.confirmedAtMs = performance.now();
    await this.record();
    await this.endpoint.refresh();
    // Sends nothing to a closed or quiet endpoint, but records the requests in flight as they end.
    const maySend = this.places() > 0;
    const isSettled = this.inFlight.size + this.ended.length === 0;
    const isDone = isSettled && !(maySend && (this.ready.length > 0 || this.isThereMore));
    if (isDone) return this.lingerOrEnd(seen);
    if (maySend) await this.claimAndSend();
    else this.release();
    if (this.inFlight.size > 0) await this.wakeUp.wait(this.stopping.signal, CLAIM_EVERY_MS, seen);
    return true;
  }

  private async record(): Promise<void> {
    const attempts = [...this.ended];
    if (attempts.length === 0) return;
    const { endpoint } = this;
    const { health, isThereMore, isMoved } = await this.store.record(endpoint.id, endpoint.health, attempts);
    // Removes only the recorded attempts: others may have ended during the write.
    this.ended.splice(0, attempts.length);
    for (const { delivery } of attempts) this.claimed.delete(delivery.subject);
    this.isThereMore ||= isThereMore;
    endpoint.setHealth(health);
    if (isMoved) endpoint.expire();
  }

  private async claimAndSend(): Promise<void> {
    const isDue = this.isThereMore || performance.now() - this.claimedAtMs >= CLAIM_EVERY_MS;
    const places = this.places();
    if (isDue && places > this.inFlight.size && this.ready.length < FEWEST_READY) {
      this.isThereMore = false;
      // Claims no more for a failing endpoint, whose quiet period would release them again.
      const limit = places === 1 ? 1 : MOST_CLAIMED - this.claimed.size;
      const { deliveries, isThereMore } = await this.store.claim(this.endpoint.id, this.claimed, limit);
      this.claimedAtMs = performance.now();
      for (const { subject } of deliveries) this.claimed.add(subject);
      this.ready.push(...deliveries);
      this.isThereMore ||= isThereMore;
    }
    this.fill();
  }

  private fill(): void {
    if (performance.now() - this.confirmedAtMs > CONFIRMED_FOR_MS) return;
    while (this.inFlight.size < this.places()) {
      const delivery = this.ready.shift();
      if (delivery === undefined) return;
      const sending = this.sendCurrent(delivery).finally(() => {
        this.inFlight.delete(sending);
        this.fill();
        this.wakeUp.signal();
      });
      this.inFlight.add(sending);
    }
  }

  /** Sends the delivery as its event is now. Releases it if the event cannot be read, or this worker may have lost the job meanwhile. */
  private async sendCurrent(claimed: DueDelivery): Promise<void> {
    const current = await this.store.readAgain(claimed).catch(() => null);
    const isConfirmed = performance.now() - this.confirmedAtMs <= CONFIRMED_FOR_MS;
    if (current !== null && isConfirmed && !this.stopping.signal.aborted) return this.send(current);
    this.claimed.delete(claimed.subject);
    this.isThereMore = true;
  }

  private async send(delivery: DueDelivery): Promise<void> {
    const { EVENT_SOURCE, WEBHOOK_RETRY_SCHEDULE_MS } = this.environment;
    const sentAtMs = performance.now();
    const { url } = this.endpoint;
    const body = JSON.stringify(toCloudEvent(delivery, EVENT_SOURCE));
    const outcome = await traced(this.spanOf(delivery), async (span) => {
      const message = { id: delivery.id, body, timestamp: new Date(), traceparent: span.traceparent };
      const sent = await this.endpoint.send(message);
      if (sent.status !== null) span.set({ 'http.response.status_code': sent.status });
      if (sent.kind !== 'delivered') span.fail(String(sent.status ?? sent.kind));
      return sent;
    });
    // An aborted attempt does not show a fault of the endpoint, so it is not recorded.
    if (this.stopping.signal.aborted && outcome.kind !== 'delivered') return;
    const plan = planDelivery(outcome, delivery, WEBHOOK_RETRY_SCHEDULE_MS, Math.random());
    this.onAttempt(plan);
    this.ended.push({ delivery, outcome, plan, url, sentAtMs });
  }

  private spanOf({ id, name, traceparent, attempts }: DueDelivery): NewSpan {
    const attributes = {
      'cloudevents.event_id': id,
      'cloudevents.event_type': toEventType(name),
      'pv_onboarding.webhook_endpoint.id': this.endpoint.id,
      'http.request.method': 'POST',
      'http.request.resend_count': attempts,
    };
    return { name: `webhook ${name}`, kind: 'client', parent: traceparent ?? null, attributes };
  }

  private release(): void {
    for (const { subject } of this.ready.splice(0)) this.claimed.delete(subject);
    this.isThereMore = true;
  }

  private places(): number {
    return this.endpoint.placesAfter(this.ended.map(({ outcome }) => outcome));
  }

  /** Waits if a delivery can be sent within `LINGER_MS`; otherwise completes the job. Returns whether to continue. */
  private async lingerOrEnd(seen: number): Promise<boolean> {
    this.release();
    // A drain never reopens its endpoint. When the endpoint is enabled again, a new job delivers.
    const lingerMs = this.endpoint.isClosed ? -Infinity : LINGER_MS;
    const nextMs = await this.store.finish(this.endpoint.id, this.job, lingerMs);
    if (nextMs === null) return false;
    if (nextMs > 0) await this.wakeUp.wait(this.stopping.signal, nextMs, seen);
    return true;
  }

  private async breakOff(): Promise<void> {
    this.endpoint.setHealth(null);
    await within(STOP_WITHIN_MS.webhooks, Promise.allSettled(this.inFlight));
    this.stopping.abort();
    await this.endpoint.disconnect();
    await Promise.allSettled(this.inFlight);
    // Records the ended attempts, if possible. Unrecorded deliveries are sent again.
    if (this.ended.length > 0)
      await this.store.record(this.endpoint.id, this.endpoint.health, this.ended).catch(() => {});
  }
}
