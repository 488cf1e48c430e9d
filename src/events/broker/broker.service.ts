import { once } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from '../../platform/async/backoff.rules.js';
import { Loop } from '../../platform/async/loop.js';
import { Database } from '../../platform/database/database.js';
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
const RENEW_MS = 1_500;
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

  /** Claims the lease and publishes until the lease is lost, the broker fails or the process stops. Returns the ms to wait afterwards. */
  private async publishUnderLease(stopping: AbortSignal): Promise<number> {
    const lease = await sql.claimLease(this.database, LEASE_MS);
    if (lease === null) return CLAIM_INTERVAL_MS;
    const lost = new AbortController();
    const renewal = new Loop({
      step: async () => {
        if (!(await sql.renewLease(this.database, lease, LEASE_MS))) lost.abort();
        return RENEW_MS;
      },
      // Without the database, publishing fails at its next statement. If another process has claimed the lease, movePosition returns false.
      onError: () => RENEW_MS,
    });
    const stop = AbortSignal.any([lost.signal, stopping]);
    let publisher: EventPublisher | undefined;
    renewal.start();
    try {
      publisher = await this.open(stop);
      if (publisher !== undefined) await this.follow(publisher, lease, stop);
      return 0;
    } catch (error) {
      if (stop.aborted) return 0;
      if (error instanceof BrokerError) return await this.reportFailure(lease, error.message);
      throw error;
    } finally {
      // Node 20 keeps a signal of AbortSignal.any that has listeners until it aborts.
      lost.abort();
      await publisher?.close();
      await renewal.stop();
      await sql.releaseLease(this.database, lease);
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

  private async follow(publisher: EventPublisher, lease: sql.Lease, stop: AbortSignal): Promise<void> {
    for (const warning of publisher.warnings) this.logger.warn(warning);
    await sql.recordWarnings(this.database, lease, publisher.warnings);
    let readTo = await this.startAt(publisher.stored, lease.readTo);
    let isKnownToWork = false;
    while (!stop.aborted) {
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
      if (!isKnownToWork && lease.failingSeconds !== null) {
        await sql.markWorking(this.database, lease);
        this.logger.log(`the broker accepts events again, after ${lease.failingSeconds} s`);
      }
      isKnownToWork = true;
      this.failures = 0;
      // A lost connection that worked before is not a failure of the broker. The next step reconnects.
      if (failure !== null) return;
      if (events.length === 0) await this.signal.wait(stop, CLAIM_INTERVAL_MS, seen);
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

  private async reportFailure(lease: sql.Lease, reason: string): Promise<number> {
    this.failures += 1;
    await sql.markFailing(this.database, lease, reason);
    if (reason !== lease.lastError || this.failures === 1)
      this.logger.warn(`the broker accepts no events: ${reason}. They are published once it does`);
    return backoffMs(BACKOFF, this.failures, Math.random());
  }
}
