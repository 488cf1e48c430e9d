import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { Database } from '../platform/database/database.js';
import { Leases, type Lease } from '../platform/database/lease.js';
import { tlsFilesOf, type TlsMaterial } from '../platform/http-client/tls-files.js';
import { Environment } from '../platform/env/environment.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import { toCloudEvent } from '../events/cloud-event.js';
import { EventSignal } from '../events/event-signal.service.js';
import { EventsStore } from '../feed/events.store.js';
import * as sql from './broker.sql.js';
import { BrokerError, type EventPublisher } from './event-publisher.js';

const STOP_WITHIN_MS = stopsWithin(3_000);
/** The lease expires 5 s after its last renewal. Another process then claims it within `CLAIM_INTERVAL_MS`. */
const LEASE_MS = 5_000;
/** The interval at which a process without the lease tries to claim it. It is also the longest wait for an event signal. */
const CLAIM_INTERVAL_MS = 1_000;
/** The most events per call of `publish`: few enough that a slow broker confirms them all within the publisher's timeout of 5 s. */
const PAGE = 250;
/** The wait before the next attempt if the broker has failed. */
const RETRY_MS = 2_000;

@Injectable()
export class Publishers {
  /** Throws BrokerError if the broker at `url` is unreachable, rejects our credentials, or would not store the events. */
  async open(url: string, tls: TlsMaterial): Promise<EventPublisher> {
    // Loads the client only if a broker is configured.
    return (await import('./nats.publisher.js')).openNats(url, tls);
  }
}

/** Publishes all events to the broker at EVENT_BROKER_URL, in `sequence` order. Under a lease, only one process at a time publishes. */
@Injectable()
export class Broker extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'broker.publish',
      everyMs: CLAIM_INTERVAL_MS,
      due: sql.ANY_DUE,
      run: (stop) => this.publishUnderLease(stop),
    }),
  ];
  private readonly published = this.metrics.counter({
    name: 'pv_onboarding_broker_events_total',
    help: 'Events that the message broker has confirmed to this process',
  });
  private readonly leases = new Leases(this.database, sql.BROKER_LEASES, { leaseMs: LEASE_MS });

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
    private readonly events: EventsStore,
    private readonly signal: EventSignal,
    private readonly publishers: Publishers,
    private readonly metrics: Metrics,
  ) {
    const { ROLE, EVENT_BROKER_URL } = environment;
    const isActive = ROLE !== 'api' && EVENT_BROKER_URL !== undefined;
    super('events could not be published', isActive, STOP_WITHIN_MS);
  }

  /** Publishes until the lease is lost, the broker fails or the process stops. Returns the ms to wait before the next call. */
  private async publishUnderLease(stop: AbortSignal): Promise<number> {
    if (await this.leases.runUnderLease(sql.NATS, stop, (lease) => this.publish(lease))) return 0;
    // Inserts the row, which an operator may have deleted to publish all events again.
    await sql.insertPlace(this.database);
    return CLAIM_INTERVAL_MS;
  }

  /** Publishes under the lease. Returns in how many ms the lease may be claimed again. */
  private async publish(lease: Lease): Promise<number> {
    const place = await sql.readPlace(this.database, lease);
    if (place === null) return 0;
    let publisher: EventPublisher | undefined;
    // Closing the connection ends a publish in progress.
    lease.signal.addEventListener('abort', () => void publisher?.close());
    try {
      publisher = await this.publishers.open(
        this.environment.EVENT_BROKER_URL!,
        tlsFilesOf(this.environment, 'broker').current(),
      );
      await this.follow(publisher, place, lease);
      return lease.signal.aborted ? 0 : RETRY_MS;
    } catch (error) {
      if (lease.signal.aborted) return 0;
      if (!(error instanceof BrokerError)) throw error;
      await sql.markFailing(this.database, lease, error.message);
      if (error.message !== place.lastError)
        this.logger.warn(`the broker accepts no events: ${error.message}. They are published once it does`);
      return RETRY_MS;
    } finally {
      await publisher?.close();
    }
  }

  /** Publishes until the lease ends or the broker fails. */
  private async follow(publisher: EventPublisher, place: sql.Place, lease: Lease): Promise<void> {
    let readTo = await this.startAt(publisher.lastId, place.readTo);
    let isKnownToWork = false;
    while (!lease.signal.aborted) {
      const seen = this.signal.count;
      const { events } = await this.events.readPage(readTo, PAGE);
      const acked = await publisher.publish(
        events.map((event) => toCloudEvent(event, this.environment.EVENT_SOURCE)),
      );
      const last = events[acked - 1];
      if (last !== undefined) {
        this.published.inc(acked);
        const move = () => sql.movePosition(this.database, lease, last.sequence);
        if (!(await this.database.outcomes.repeat(move, LEASE_MS))) return;
        readTo = last.sequence;
      }
      if (!isKnownToWork) await this.reportWorking(publisher, place, lease);
      isKnownToWork = true;
      if (acked < events.length) return;
      if (events.length === 0) await this.signal.wait(lease.signal, CLAIM_INTERVAL_MS, seen);
    }
  }

  /** Returns the sequence after which to publish: that of the broker's last event or, if it is unknown, `readTo`, which may be too low. */
  private async startAt(lastId: EventPublisher['lastId'], readTo: string): Promise<string> {
    if (lastId === undefined) return readTo;
    const storedTo = lastId === null ? '0' : ((await sql.findSequence(this.database, lastId)) ?? readTo);
    if (BigInt(storedTo) < BigInt(readTo))
      this.logger.warn(
        `the broker has lost events that it had confirmed; those after ${storedTo} are published again`,
      );
    return storedTo;
  }

  private async reportWorking({ warnings }: EventPublisher, { failingSeconds }: sql.Place, lease: Lease) {
    await sql.markWorking(this.database, lease, warnings);
    for (const warning of warnings) this.logger.warn(warning);
    if (failingSeconds !== null)
      this.logger.log(`the broker accepts events again, after ${failingSeconds} s`);
  }
}
