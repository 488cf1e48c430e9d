import { once } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from '../../platform/async/backoff.rules.js';
import { Loop } from '../../platform/async/loop.js';
import { Database } from '../../platform/database/database.js';
import { Leases, type Lease } from '../../platform/database/lease.js';
import { Environment } from '../../platform/env/environment.js';
import { Metrics } from '../../observability/metrics/metrics.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { toCloudEvent } from '../cloud-event.js';
import { EventSignal } from '../event-signal.service.js';
import { EventsStore } from '../feed/events.store.js';
import * as sql from './broker.sql.js';
import { BrokerError, type EventPublisher, type StoredEvents } from './event-publisher.js';

/** A lease expires this long after its last renewal. Another process then claims it within `CLAIM_INTERVAL_MS`. */
const LEASE_MS = 5_000;
/** The interval at which a process without the lease tries to claim it; also the longest wait for an event signal. */
const CLAIM_INTERVAL_MS = 1_000;
/** Events per call of `publish`: few enough that a slow broker confirms them all within the publisher's timeout of 5 s. */
const PAGE = 250;
/** The waits between attempts while the broker fails. Its recovery is noticed after `mostMs` at the latest. */
const BACKOFF = { firstMs: 500, mostMs: 5_000 };

@Injectable()
export class Publishers {
  /** Throws BrokerError if the broker at `url` is unreachable, rejects our credentials, or would not store the events. */
  async open(url: string): Promise<EventPublisher> {
    // Loads the client only if a broker is configured.
    return (await import('./nats.publisher.js')).openNats(url);
  }
}

/** Publishes all events to the broker at EVENT_BROKER_URL in `sequence` order. Under a lease, one process at a time publishes. */
@Injectable()
export class Broker implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(Broker.name);
  private readonly published = this.metrics.counter({
    name: 'pv_onboarding_broker_events_total',
    help: 'Events that the message broker has confirmed to this process',
  });
  private readonly publishing = new Loop({
    step: (stop) => this.publishUnderLease(stop),
    onError: (error, failures) => {
      // Logs once per outage of the database, not every second.
      if (failures === 1) this.logger.warn(`events could not be published: ${errorText(error)}`);
      return CLAIM_INTERVAL_MS;
    },
  });
  private readonly leases = new Leases(this.database, sql.BROKER_LEASES, {
    leaseMs: LEASE_MS,
    backoff: BACKOFF,
  });
  private failures = 0;

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
    private readonly events: EventsStore,
    private readonly signal: EventSignal,
    private readonly publishers: Publishers,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    if (this.environment.ROLE !== 'api' && this.environment.EVENT_BROKER_URL !== undefined)
      this.publishing.start();
  }

  onModuleDestroy(): void {
    void this.publishing.stop();
  }

  // The database is closed after this hook.
  async beforeApplicationShutdown(): Promise<void> {
    await this.publishing.stop(STOP_WITHIN_MS.broker);
  }

  /** Publishes until the lease is lost, the broker fails or the process stops. Returns the ms to wait afterwards. */
  private async publishUnderLease(stop: AbortSignal): Promise<number> {
    const run = () => this.leases.runUnderLease(sql.NATS, stop, (lease) => this.publish(lease));
    if (await run()) return 0;
    // An operator deletes the row to publish everything again.
    await sql.insertPlace(this.database);
    return CLAIM_INTERVAL_MS;
  }

  /** Returns in how many ms to try again. */
  private async publish(lease: Lease): Promise<number> {
    const place = await sql.readPlace(this.database, lease);
    if (place === null) return 0;
    let publisher: EventPublisher | undefined;
    try {
      publisher = await this.open(lease.signal);
      if (publisher !== undefined) await this.follow(publisher, place, lease);
      return 0;
    } catch (error) {
      if (lease.signal.aborted) return 0;
      if (error instanceof BrokerError) return await this.reportFailure(lease, place, error.message);
      throw error;
    } finally {
      await publisher?.close();
    }
  }

  /** Opens the publisher, and closes it when `stop` aborts. Returns undefined if `stop` aborts before the publisher is open. */
  private async open(stop: AbortSignal): Promise<EventPublisher | undefined> {
    if (stop.aborted) return undefined;
    const stopped = once(stop, 'abort').then(() => undefined);
    const opening = this.publishers.open(this.environment.EVENT_BROKER_URL!);
    void Promise.all([opening, stopped]).then(
      ([publisher]) => publisher.close(),
      () => {},
    );
    return Promise.race([opening, stopped]);
  }

  private async follow(publisher: EventPublisher, place: sql.Place, lease: Lease): Promise<void> {
    for (const warning of publisher.warnings) this.logger.warn(warning);
    await sql.recordWarnings(this.database, lease, publisher.warnings);
    let readTo = await this.startAt(publisher.stored, place.readTo);
    let isKnownToWork = false;
    while (!lease.signal.aborted) {
      const seen = this.signal.count;
      const { events } = await this.events.readPage(readTo, PAGE);
      const { acked, failure } = await publisher.publish(
        events.map((event) => toCloudEvent(event, this.environment.EVENT_SOURCE)),
      );
      const last = events[acked - 1];
      if (last !== undefined) {
        this.published.inc(acked);
        if (!(await sql.movePosition(this.database, lease, last.sequence))) return;
        readTo = last.sequence;
      }
      if (failure !== null && acked === 0 && !isKnownToWork) throw failure;
      if (!isKnownToWork && place.failingSeconds !== null) {
        await sql.markWorking(this.database, lease);
        this.logger.log(`the broker accepts events again, after ${place.failingSeconds} s`);
      }
      isKnownToWork = true;
      this.failures = 0;
      // A lost connection that worked before is not a failure of the broker. The next step reconnects.
      if (failure !== null) return;
      if (events.length === 0) await this.signal.wait(lease.signal, CLAIM_INTERVAL_MS, seen);
    }
  }

  /** Returns the sequence after which publishing continues: that of the broker's last event or, if it is unknown, `readTo`, which may be too low. */
  private async startAt(stored: StoredEvents, readTo: string): Promise<string> {
    if (stored.kind === 'unknown') return readTo;
    const storedTo =
      stored.kind === 'nothing' ? '0' : ((await sql.findSequence(this.database, stored.id)) ?? readTo);
    if (BigInt(storedTo) < BigInt(readTo))
      this.logger.warn(
        `the broker has lost events that it had confirmed; those after ${storedTo} are published again`,
      );
    return storedTo;
  }

  private async reportFailure(lease: Lease, place: sql.Place, reason: string): Promise<number> {
    this.failures += 1;
    await sql.markFailing(this.database, lease, reason);
    if (reason !== place.lastError || this.failures === 1)
      this.logger.warn(`the broker accepts no events: ${reason}. They are published once it does`);
    return backoffMs(BACKOFF, this.failures, Math.random());
  }
}
