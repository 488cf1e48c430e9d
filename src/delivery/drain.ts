import { WakeUp } from '../platform/async/wake-up.js';
import { within } from '../platform/async/within.js';
import type { Lease } from '../platform/database/lease.js';
import { AttemptWrites } from './attempt-writes.js';
import { planDelivery } from './delivery-plan.rules.js';
import type { Attempt, DueDelivery, Outlet } from './outlet.js';
import type { DeliveryQueue } from './queue.store.js';

/** The interval at which deliveries are taken while attempts are in flight, because other processes may have made some due. */
const TAKE_EVERY_MS = 200;
/** How long an idle endpoint stays leased. Its next event then needs no claim of the lease, which would take two round trips. */
const LINGER_MS = 10_000;
/** After this time, an endpoint without pending deliveries is due again. New events make it due earlier. */
const IDLE_MS = 3_600_000;
/** Nothing is sent while the database refuses to record so many attempts, since it may refuse all. */
const MOST_REFUSALS = 16;
/** How long to wait for aborted attempts to end. */
const ABORT_WITHIN_MS = 500;

/*
 * The delivery queue.
 *
 * Webhook endpoints and handlers are readers of the outbox: each has its own place in it (`read_to`), its own lease and its own retries. An
 * event reaches each of them at least once, in order within a subject; different subjects do not wait for each other.
 *
 * Tables
 * - webhook_endpoints: one row per reader, handlers included. Each event up to the sequence `read_to` has a delivery, if the reader wants
 *   its type.
 * - webhook_deliveries: one row per event and endpoint, `pending`, `delivered` or `failed`, with its attempts.
 * - webhook_subjects: the queue, one row per subject with pending deliveries. It is due when the first of them is.
 *
 * States of an endpoint, and who leaves them
 * - idle: no unread event and nothing due. A new event wakes the workers (EventSignal); without that, a search finds it within a second.
 * - due: a worker claims the lease (`due_at`, `lease_token`), which one process at a time has. This class runs under it.
 * - leased: TAKE turns unread events into deliveries and returns the first delivery of each due subject, as many as there are places: 16,
 *   or one while it fails. The lease stays for 10 s after the last delivery, so that the next event needs no claim.
 * - quiet (`quiet_until`): ten attempts in a row have failed, or the receiver sent a Retry-After. Nothing is sent until then.
 * - disabled (`disabled_at`): by a person, by a 410, or after five days of failures (endpoint-health.rules.ts). `read_to` stays, so the
 *   events of the meantime are delivered once the endpoint is enabled, unless the request says `skipMissed`.
 *
 * States of a delivery
 * - pending, due: in the queue; its predecessors of the subject are delivered or failed.
 * - in flight: only in the memory of this process (`claimed`). Nothing is written at the start of an attempt.
 * - ended: `record` writes the attempt, and makes the subject due for the next delivery or for the retry.
 * - failed: the schedule of retries is over. The next event of the subject follows; a person may have it sent again.
 *
 * What a crash leaves
 * - Before TAKE commits: nothing. The next process reads the same events.
 * - During an attempt: a pending delivery. It is sent again after the lease (30 s), with the same id.
 * - After the receiver has accepted, before the attempt is recorded: the same. The receiver sees the id twice and ignores the second.
 * A SIGTERM waits 1 s for requests in flight, which are then aborted, and 2 s for handlers, whose results are then dropped. It records what
 * has ended and releases the lease, so that another process continues at once.
 * If the database refuses to record an attempt, attempt-writes.ts repeats the write, which delays no other delivery.
 *
 * Order of locks: the endpoint, then events in order of position (as an erasure does), then deliveries, then subjects. TAKE, SETTLE and
 * requests that make subjects due all follow it.
 *
 * At night: `admin.webhook_endpoints` (pending, failures, quiet until, why it is silent), `admin.webhook_deliveries` (status and error of
 * each), `GET /webhook-deliveries/{id}` (the response) and `POST /webhook-endpoints/{id}/test`. If deliveries are due and no endpoint is
 * leased, no worker runs.
 */
/** Delivers the events of one endpoint under its lease: subjects concurrently, each subject in order. A crash may repeat attempts. */
export class Drain {
  /** The attempts that are in flight or not yet recorded, by subject. The queue must not return these subjects again. */
  private readonly claimed = new Map<string, Promise<void>>();
  /** The attempts that have ended but are not recorded yet. */
  private readonly writes: AttemptWrites;
  /** Signalled when an attempt has ended, and when there may be new events or deliveries. */
  private readonly wakeUp = new WakeUp();
  private isAborted = false;
  private takenAtMs = -Infinity;
  private activeAtMs = performance.now();
  private isThereMore = true;

  constructor(
    private readonly endpointId: string,
    private readonly queue: DeliveryQueue,
    private readonly outlet: Outlet,
    private readonly lease: Lease,
  ) {
    const forget = ({ delivery }: Attempt) => void this.claimed.delete(delivery.subject);
    this.writes = new AttemptWrites(endpointId, queue, outlet, forget);
  }

  /** Delivers until nothing is due or the lease ends. `events` signals new events. Returns in how many ms the endpoint is due again. */
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

  /** Does one step of `run`. Returns null if another step follows, otherwise the result of `run`. */
  private async step(): Promise<number | null> {
    if (!this.lease.isCertain()) throw new Error('another process may have the lease');
    const seen = this.wakeUp.count;
    this.isThereMore = (await this.writes.write()) || this.isThereMore;
    try {
      await this.outlet.refresh?.();
      const isDue = this.isThereMore || performance.now() - this.takenAtMs >= TAKE_EVERY_MS;
      if (isDue && this.freePlaces() > 0) await this.takeAndSend();
    } catch (error) {
      // The database may be unreachable. The attempts in flight then end, and are recorded once it is reachable again.
      if (this.writes.refusals === 0) throw error;
      await this.wakeUp.wait(this.lease.signal, TAKE_EVERY_MS, seen);
      return null;
    }
    if (this.isThereMore && this.freePlaces() > 0) return null;
    if (this.claimed.size === 0) return this.lingerOrEnd(seen);
    await this.wakeUp.wait(this.lease.signal, TAKE_EVERY_MS, seen);
    return null;
  }

  /** Takes only as many deliveries as can be sent at once, because an erasure may change the event of a delivery that waits. */
  private async takeAndSend(): Promise<void> {
    this.isThereMore = false;
    const places = this.freePlaces();
    const release = this.outlet.reserve?.(places);
    try {
      const { deliveries, isThereMore } = await this.queue.take(
        this.endpointId,
        this.lease.token,
        this.claimed.keys(),
        places,
      );
      this.isThereMore ||= isThereMore;
      this.takenAtMs = performance.now();
      if (this.lease.signal.aborted || !this.lease.isCertain()) return;
      if (deliveries.length > 0) this.activeAtMs = this.takenAtMs;
      for (const delivery of deliveries) this.claimed.set(delivery.subject, this.send(delivery));
    } finally {
      release?.();
    }
  }

  private async send(delivery: DueDelivery): Promise<void> {
    const { outlet } = this;
    const sentAtMs = performance.now();
    const outcome = await outlet.send(delivery);
    // Does not record an aborted attempt, because it does not show a fault of the endpoint.
    if (this.isAborted && outcome.kind !== 'delivered') return;
    const plan = planDelivery(outcome, delivery, (failures) => outlet.waitAfter(failures), Math.random());
    const attempt = { delivery, outcome, plan, sentAtMs };
    outlet.report(attempt);
    this.writes.add(attempt);
    this.wakeUp.signal();
  }

  private freePlaces(): number {
    const { refusals } = this.writes;
    return refusals < MOST_REFUSALS ? this.outlet.places() - this.claimed.size + refusals : 0;
  }

  /** Returns in how many ms the endpoint is due if the drain is to end. Otherwise waits for an event or a delivery, and returns null. */
  private async lingerOrEnd(seen: number): Promise<number | null> {
    const nextMs = Math.max(1, (await this.queue.findNextDue(this.endpointId)) ?? IDLE_MS);
    const mayEnd = this.outlet.places() === 0 || performance.now() - this.activeAtMs >= LINGER_MS;
    if (this.outlet.isClosed || (mayEnd && nextMs > LINGER_MS)) return nextMs;
    await this.wakeUp.wait(this.lease.signal, Math.min(nextMs, LINGER_MS), seen);
    return null;
  }

  private async end(): Promise<void> {
    const inFlight = Promise.all(this.claimed.values());
    await within(this.outlet.stopWithinMs, inFlight);
    this.isAborted = true;
    this.outlet.close?.();
    await within(ABORT_WITHIN_MS, inFlight);
    // Deliveries whose attempts are not recorded are sent again.
    await this.writes.end();
  }
}
