import { WakeUp } from '../../platform/async/wake-up.js';
import { within } from '../../platform/async/within.js';
import type { Lease } from '../../platform/database/lease.js';
import { planDelivery } from './delivery-plan.rules.js';
import type { Attempt, DueDelivery, Outlet } from './outlet.js';
import type { DeliveryQueue } from './queue.store.js';

/** The most subjects claimed at a time: more than are in flight, so that the next attempt does not wait for the database. */
const MOST_CLAIMED = 48;
/** More subjects are claimed when fewer than this many are ready to be sent. */
const FEWEST_READY = 16;
/** The interval of claims while attempts are in flight. These claims find deliveries that other processes made due. */
const TAKE_EVERY_MS = 200;
/** An event that was read this recently is sent without reading it again. */
const FRESH_MS = 50;
/** How long the lease of an idle endpoint is kept: its next event then needs no claim, which would take two round trips. */
const LINGER_MS = 10_000;
/** When an endpoint without pending deliveries is due. New events make it due earlier. */
const IDLE_MS = 3_600_000;
/** How long aborted attempts may take to end. */
const ABORT_WITHIN_MS = 500;

interface Ready {
  readonly delivery: DueDelivery;
  readonly readAtMs: number;
}

/** Delivers the events of one endpoint under its lease: subjects concurrently, the events of a subject in order. A crash may repeat attempts. */
export class Drain {
  /** A subject stays claimed until its attempt is recorded. Until then, the database would return the subject again. */
  private readonly claimed = new Set<string>();
  private readonly ready: Ready[] = [];
  private readonly inFlight = new Set<Promise<void>>();
  /** Attempts that are not recorded yet. */
  private readonly ended: Attempt[] = [];
  /** Signalled when an attempt has ended, and when there may be new events or deliveries. */
  private readonly wakeUp = new WakeUp();
  private isEnding = false;
  private isAborted = false;
  private takenAtMs = -Infinity;
  private activeAtMs = performance.now();
  private isThereMore = true;

  constructor(
    private readonly endpointId: string,
    private readonly queue: DeliveryQueue,
    private readonly outlet: Outlet,
    private readonly lease: Lease,
  ) {}

  /** Delivers until nothing is due, or the lease ends. `events` signals new events. Returns in how many ms the endpoint is due again. */
  async run(events: WakeUp): Promise<number> {
    const forget = events.onSignal(() => {
      this.isThereMore = true;
      this.wakeUp.signal();
    });
    try {
      while (!this.lease.signal.aborted) {
        const dueInMs = await this.step();
        if (dueInMs !== null) return dueInMs;
      }
      return 0;
    } finally {
      forget();
      await this.end();
    }
  }

  /** Returns null to continue. */
  private async step(): Promise<number | null> {
    if (!this.lease.isCertain()) throw new Error('another process may have the lease');
    const seen = this.wakeUp.count;
    await this.record();
    await this.outlet.refresh();
    // Sends nothing to a closed or quiet endpoint, but records the attempts in flight as they end.
    const maySend = this.places() > 0;
    const isSettled = this.inFlight.size + this.ended.length === 0;
    const isDone = isSettled && !(maySend && (this.ready.length > 0 || this.isThereMore));
    if (isDone) return this.lingerOrEnd(seen);
    if (maySend) await this.takeAndSend();
    else this.release();
    if (this.inFlight.size > 0) await this.wakeUp.wait(this.lease.signal, TAKE_EVERY_MS, seen);
    return null;
  }

  private async record(): Promise<void> {
    const attempts = [...this.ended];
    if (attempts.length === 0) return;
    const isThereMore = await this.outlet.record(attempts);
    // Removes only the recorded attempts: others may have ended during the write.
    this.ended.splice(0, attempts.length);
    for (const { delivery } of attempts) this.claimed.delete(delivery.subject);
    this.isThereMore ||= isThereMore;
  }

  private async takeAndSend(): Promise<void> {
    const isDue = this.isThereMore || performance.now() - this.takenAtMs >= TAKE_EVERY_MS;
    const places = this.places();
    if (isDue && places > this.inFlight.size && this.ready.length < FEWEST_READY) {
      this.isThereMore = false;
      // Claims no more for a failing endpoint, whose quiet period would release them again.
      const limit = places === 1 ? 1 : MOST_CLAIMED - this.claimed.size;
      const readAtMs = performance.now();
      const { deliveries, isThereMore } = await this.queue.take(
        this.endpointId,
        this.lease.token,
        this.claimed,
        limit,
      );
      this.takenAtMs = performance.now();
      if (deliveries.length > 0) this.activeAtMs = this.takenAtMs;
      for (const { subject } of deliveries) this.claimed.add(subject);
      this.ready.push(...deliveries.map((delivery) => ({ delivery, readAtMs })));
      this.isThereMore ||= isThereMore;
    }
    this.fill();
  }

  private fill(): void {
    while (!this.isEnding && this.lease.isCertain() && this.inFlight.size < this.places()) {
      const next = this.ready.shift();
      if (next === undefined) return;
      const sending = this.sendCurrent(next).finally(() => {
        this.inFlight.delete(sending);
        this.fill();
        this.wakeUp.signal();
      });
      this.inFlight.add(sending);
    }
  }

  /** Sends the delivery as its event is now. Releases it if the event cannot be read, or this process may have lost the lease meanwhile. */
  private async sendCurrent({ delivery, readAtMs }: Ready): Promise<void> {
    const isFresh = performance.now() - readAtMs < FRESH_MS;
    const current = isFresh ? delivery : await this.queue.readAgain(delivery).catch(() => null);
    if (current !== null && this.lease.isCertain() && !this.isEnding) return this.send(current);
    this.claimed.delete(delivery.subject);
    this.isThereMore = true;
  }

  private async send(delivery: DueDelivery): Promise<void> {
    const { outlet } = this;
    const sentAtMs = performance.now();
    const { destination } = outlet;
    const outcome = await outlet.send(delivery);
    // An aborted attempt does not show a fault of the endpoint, so it is not recorded.
    if (this.isAborted && outcome.kind !== 'delivered') return;
    const plan = planDelivery(outcome, delivery, (failures) => outlet.waitAfter(failures), Math.random());
    const attempt = { delivery, outcome, plan, destination, sentAtMs };
    outlet.report(attempt);
    this.ended.push(attempt);
  }

  private release(): void {
    for (const { delivery } of this.ready.splice(0)) this.claimed.delete(delivery.subject);
    this.isThereMore = true;
  }

  private places(): number {
    return this.outlet.placesAfter(this.ended.map(({ outcome }) => outcome));
  }

  /** Waits for the next event or delivery and returns null. If none comes soon, returns in how many ms the endpoint is due. */
  private async lingerOrEnd(seen: number): Promise<number | null> {
    this.release();
    const nextMs = Math.max(1, (await this.queue.findNextDue(this.endpointId)) ?? IDLE_MS);
    const mayEnd = this.places() === 0 || performance.now() - this.activeAtMs >= LINGER_MS;
    if (this.outlet.isClosed || (mayEnd && nextMs > LINGER_MS)) return nextMs;
    await this.wakeUp.wait(this.lease.signal, Math.min(nextMs, LINGER_MS), seen);
    return null;
  }

  private async end(): Promise<void> {
    this.isEnding = true;
    await within(this.outlet.stopWithinMs, Promise.all(this.inFlight));
    this.isAborted = true;
    await this.outlet.close();
    await within(ABORT_WITHIN_MS, Promise.all(this.inFlight));
    // Records the ended attempts, if possible. Unrecorded deliveries are sent again.
    if (this.ended.length > 0) await this.outlet.record(this.ended).catch(() => {});
  }
}
