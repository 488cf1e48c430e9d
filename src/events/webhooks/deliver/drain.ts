import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connections } from '../../../platform/http-client/connections.js';
import type { RunningJob } from '../../../platform/jobs/running-job.js';
import { toCloudEvent } from '../../cloud-event.js';
import { planDelivery, type DeliveryPlan } from './delivery-plan.rules.js';
import { isFailing, placesOf, planHealth, type HealthPlan } from './endpoint-health.rules.js';
import { SubjectsInHand } from './claimed-subjects.rules.js';
import type { Attempt, WebhookDrainStore } from './drain.store.js';
import type { EndpointHealth } from './endpoint-health.sql.js';
import type { DueDelivery } from './due-deliveries.sql.js';
import type { Destination, WebhookSender } from '../send/sender.service.js';

/** Claim subjects ahead of need, so that a free place is filled without reading the database first. */
const MOST_IN_HAND = 48;
const FEWEST_READY = 16;
/** While requests are in flight, read deliveries written by other processes at this interval. */
const LOOK_EVERY_MS = 200;
/** Reread the endpoint at this interval, to notice changes such as its being disabled. */
const REFRESH_MS = 1_000;
/** Stop sending if the job lock was last confirmed longer ago than this. */
const OURS_FOR_MS = 2_000;
/** graphile-worker starts a job within 2 s after it is due. Ending the job for a shorter wait gains nothing. */
const LINGER_MS = 2_000;
/** When the process stops, requests in flight get this long for a response. The rest are aborted, not recorded, and sent again later. */
const STOP_WITHIN_MS = 1_000;

export interface DrainParts {
  readonly store: WebhookDrainStore;
  readonly sender: WebhookSender;
  /** EVENT_SOURCE. */
  readonly source: string;
  readonly schedule: readonly number[];
  /** Called after each attempt. */
  readonly onAttempt: (plan: DeliveryPlan) => void;
}

/**
 * Delivers the pending events of one endpoint: one at a time and in order within a subject, subjects concurrently as places become
 * free.
 *
 * A single loop reads and writes the database; all attempts that ended since its last write are written together. Sending waits for
 * neither. An attempt is recorded after its response, so a crash in between repeats it.
 */
export class WebhookDrain {
  private readonly hand = new SubjectsInHand<DueDelivery>();
  private readonly inFlight = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly opened: Connections[] = [];
  private attempts: Attempt[] = [];
  private destination: Destination | undefined;
  private health: EndpointHealth = { failures: 0, failingSince: null, quietUntil: null, now: new Date(0) };
  private healthAtMs = 0;
  private refreshedAtMs = -Infinity;
  private oursAtMs = -Infinity;
  private lookedAtMs = -Infinity;
  private isThereMore = true;
  /** The endpoint is disabled or deleted, or the loop has failed. Never reset. */
  private isOver = false;
  private wakeUp: () => void = () => {};

  constructor(
    private readonly endpointId: string,
    private readonly parts: DrainParts,
    private readonly job: RunningJob,
  ) {
    // Every request in flight listens to this signal. Node warns of a leak above ten listeners.
    setMaxListeners(0, this.stopping.signal);
  }

  async run(): Promise<void> {
    try {
      while (!(await this.step()));
    } catch (error) {
      await this.breakOff();
      throw error;
    } finally {
      await Promise.all(this.opened.map((connections) => connections.close()));
    }
  }

  /** Makes the loop read new deliveries at once. */
  wake(): void {
    this.isThereMore = true;
    this.wakeUp();
  }

  /** Returns whether the job has ended. */
  private async step(): Promise<boolean> {
    await this.job.goOn();
    this.oursAtMs = performance.now();
    await this.write();
    await this.refresh();
    if (this.wantsToLook()) await this.look();
    this.fill();
    if (this.inFlight.size === 0 && this.attempts.length === 0) {
      const isIdle = this.isOver || this.quietMs() > 0 || (this.hand.readyCount === 0 && !this.isThereMore);
      if (isIdle) return this.end();
    } else if (this.attempts.length === 0) await this.pause(LOOK_EVERY_MS);
    return false;
  }

  private async write(): Promise<void> {
    const written = [...this.attempts];
    if (written.length === 0) return;
    const after = await this.parts.store.record(this.endpointId, this.health, written);
    // Attempts that ended during the write follow the written ones.
    this.attempts = this.attempts.slice(written.length);
    for (const { delivery } of written) this.hand.forget(delivery);
    if (after === null) this.isOver = true;
    else this.learn(after);
    if (this.quietMs() > 0) this.hand.putDown();
  }

  private async refresh(): Promise<void> {
    if (this.isOver || performance.now() - this.refreshedAtMs < REFRESH_MS) return;
    const found = await this.parts.store.findEndpoint(this.endpointId);
    this.refreshedAtMs = performance.now();
    if (found === null) {
      this.isOver = true;
      this.hand.putDown();
      return;
    }
    const { destination, health } = found;
    if (destination.url !== this.destination?.url) this.opened.push(this.parts.sender.open(destination.url));
    this.destination = destination;
    this.learn(health);
  }

  private learn(health: EndpointHealth): void {
    if (health === this.health) return;
    this.health = health;
    this.healthAtMs = performance.now();
  }

  private wantsToLook(): boolean {
    if (this.isOver || this.quietMs() > 0 || this.places() <= this.hand.sendingCount) return false;
    const isLongAgo = performance.now() - this.lookedAtMs >= LOOK_EVERY_MS;
    return this.hand.readyCount < FEWEST_READY && (this.isThereMore || isLongAgo);
  }

  private async look(): Promise<void> {
    this.isThereMore = false;
    const inHand = this.hand.readyCount + this.hand.sendingCount;
    const limit = isFailing(this.current()) ? 1 : MOST_IN_HAND - inHand;
    const seen = await this.parts.store.look(this.endpointId, this.hand.reach(), limit);
    this.lookedAtMs = performance.now();
    this.hand.add(seen.deliveries);
    this.isThereMore ||= seen.isThereMore;
  }

  private fill(): void {
    if (this.isOver || performance.now() - this.oursAtMs > OURS_FOR_MS) return;
    while (this.hand.sendingCount < this.places()) {
      const delivery = this.hand.takeNext();
      if (delivery === undefined) return;
      const sending = this.send(delivery).finally(() => this.inFlight.delete(sending));
      this.inFlight.add(sending);
    }
  }

  private async send(delivery: DueDelivery): Promise<void> {
    const { sender, schedule, onAttempt } = this.parts;
    const sentAtMs = performance.now();
    const { event } = delivery;
    const message = {
      id: event.id,
      body: JSON.stringify(toCloudEvent(event, this.parts.source)),
      timestamp: new Date(),
    };
    const outcome = await sender.sendOver(
      this.opened.at(-1)!,
      this.destination!,
      message,
      this.stopping.signal,
    );
    // An aborted attempt says nothing about the endpoint.
    if (this.stopping.signal.aborted && outcome.kind !== 'delivered') return;
    const plan = planDelivery(outcome, delivery.attempts, schedule, Math.random());
    onAttempt(plan);
    this.attempts.push({ delivery, outcome, plan, sentAtMs });
    this.hand.settle(delivery, plan.status !== 'pending');
    this.fill();
    this.wakeUp();
  }

  private places(): number {
    return this.quietMs() > 0 ? 0 : placesOf(this.current());
  }

  private quietMs(): number {
    const { quietUntil } = this.current();
    return quietUntil === null ? 0 : quietUntil.getTime() - this.now().getTime();
  }

  /** Returns the health including attempts that are not yet written. */
  private current(): HealthPlan {
    return planHealth(
      this.health,
      this.attempts.map(({ outcome }) => outcome),
      this.now(),
    );
  }

  /** Returns the database's time. */
  private now(): Date {
    return new Date(this.health.now.getTime() + performance.now() - this.healthAtMs);
  }

  /** Ends the job if nothing is due within `LINGER_MS`; otherwise waits until something is due. Returns whether the job has ended. */
  private async end(): Promise<boolean> {
    // The endpoint may be enabled again already: what is due gets a job of its own.
    if (this.isOver) return this.parts.store.finish(this.endpointId, this.job, -Infinity);
    if (await this.parts.store.finish(this.endpointId, this.job, LINGER_MS)) return true;
    const nextMs = await this.parts.store.findNextDueMs(this.endpointId);
    this.isThereMore = true;
    await this.pause(Math.min(Math.max(nextMs ?? 0, this.quietMs()), LINGER_MS));
    return false;
  }

  private async pause(ms: number): Promise<void> {
    if (ms <= 0) return;
    const waiting = new AbortController();
    this.wakeUp = () => waiting.abort();
    await sleep(ms, undefined, { signal: waiting.signal }).catch(() => {});
    this.wakeUp = () => {};
  }

  private async breakOff(): Promise<void> {
    this.isOver = true;
    const ended = Promise.allSettled(this.inFlight);
    await Promise.race([ended, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    this.stopping.abort();
    await ended;
    // Record the successful deliveries if possible; unrecorded ones are sent once more.
    if (this.attempts.length > 0)
      await this.parts.store.record(this.endpointId, this.health, this.attempts).catch(() => {});
  }
}
