import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Database } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { toCloudEvent } from '../cloud-event.js';
import { EventSignal } from '../event-signal.service.js';
import * as sql from './broker.sql.js';
import { BrokerError, type EventPublisher, type Held } from './event-publisher.js';
import { Publishers } from './publishers.js';

/** A lease that is not renewed expires after this; another process then claims it within `LOOK_MS`. Busy processes renew in time. */
const LEASE_MS = 5_000;
const KEEP_MS = 1_500;
/** Interval at which a process that does not publish tries to claim the lease; also the longest wait for an event signal. */
const LOOK_MS = 1_000;
const PAGE = 1_000;
/** First and longest wait between attempts during an outage. A recovered broker is noticed within the latter. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;
const STOP_MS = 3_000;

/**
 * Publishes every event to the message broker at EVENT_BROKER_URL, in `sequence` order, from the oldest stored event. It has its own
 * position in the outbox, so an unavailable broker delays no other reader and is caught up later.
 *
 * One process with ROLE worker or all publishes at a time, under a lease. The position moves after the broker has confirmed, so a
 * crash repeats at most one page of events. The next process avoids even these by asking the broker for its last stored event.
 */
@Injectable()
export class Broker implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(Broker.name);
  private readonly stopping = new AbortController();
  private readonly url: string | undefined;
  private readonly published: Counter;
  private running: Promise<void> = Promise.resolve();
  /** Consecutive failures since the broker last accepted events. */
  private failures = 0;
  private isWithoutDatabase = false;

  constructor(
    private readonly environment: Environment,
    private readonly database: Database,
    private readonly signal: EventSignal,
    private readonly publishers: Publishers,
    metrics: Metrics,
  ) {
    this.published = metrics.counter({
      name: 'pv_broker_events_total',
      help: 'Events that the message broker has confirmed to this process',
    });
    if (environment.ROLE !== 'api') this.url = environment.EVENT_BROKER_URL;
  }

  onApplicationBootstrap(): void {
    if (this.url !== undefined) this.running = this.run(this.url);
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  // The database is closed after this hook.
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.race([this.running, sleep(STOP_MS, undefined, { ref: false })]);
  }

  private async run(url: string): Promise<void> {
    while (!this.stopping.signal.aborted) {
      let waitMs = LOOK_MS;
      try {
        const lease = await sql.claimPlace(this.database, this.publishers.kindOf(url), LEASE_MS);
        if (lease !== null) waitMs = await this.publishUnder(lease, url);
        this.isWithoutDatabase = false;
      } catch (error) {
        // Log once per outage, not every second.
        if (!this.isWithoutDatabase) this.logger.warn(`events were not published: ${errorText(error)}`);
        this.isWithoutDatabase = true;
      }
      await sleep(waitMs, undefined, { signal: this.stopping.signal }).catch(() => {});
    }
  }

  /** Publishes until the lease is lost, the broker fails or the process stops. Returns how many milliseconds to wait afterwards. */
  private async publishUnder(lease: sql.Lease, url: string): Promise<number> {
    const over = new AbortController();
    const kept = this.keep(lease, over);
    const stop = AbortSignal.any([over.signal, this.stopping.signal]);
    try {
      const publisher = await openUnless(stop, () => this.publishers.open(url));
      if (publisher === null) return 0;
      // Abort requests in flight; the next process asks the broker for its last stored event.
      const close = (): void => void publisher.close();
      stop.addEventListener('abort', close);
      try {
        await this.follow(publisher, lease, stop);
      } finally {
        stop.removeEventListener('abort', close);
        await publisher.close();
      }
      return 0;
    } catch (error) {
      if (stop.aborted) return 0;
      if (error instanceof BrokerError) return await this.tellFailure(lease, error.message);
      throw error;
    } finally {
      over.abort();
      await kept;
      await sql.giveBackPlace(this.database, lease);
    }
  }

  private async follow(publisher: EventPublisher, lease: sql.Lease, stop: AbortSignal): Promise<void> {
    let readTo = await this.startAt(publisher.held, lease.readTo);
    let isKnownToWork = false;
    while (!stop.aborted) {
      const said = this.signal.count;
      const events = await sql.readEventsAfter(this.database, readTo, PAGE);
      const { acked, failure } = await publisher.publish(
        events.map((event) => toCloudEvent(event, this.environment.EVENT_SOURCE)),
      );
      const last = events[acked - 1];
      if (last !== undefined) {
        this.published.inc(acked);
        if (!(await sql.movePlace(this.database, lease, last.sequence))) return;
        readTo = last.sequence;
      }
      if (!isKnownToWork && (acked > 0 || failure === null)) {
        isKnownToWork = true;
        await this.tellSuccess(lease);
      }
      // Losing a connection that has worked says nothing about the broker; reopening it will tell.
      if (failure !== null && isKnownToWork) return;
      if (failure !== null) throw failure;
      if (events.length === 0) await this.signal.wait(stop, LOOK_MS, said);
    }
  }

  /**
   * Returns the sequence after which to publish. The broker's last stored event takes precedence over our record, if it is known: it
   * is later if a process died before recording, and earlier if the broker has lost confirmed events.
   */
  private async startAt(held: Held, readTo: string): Promise<string> {
    switch (held.kind) {
      case 'unknown':
        return readTo;
      case 'nothing':
        return this.startOver('0', readTo);
      case 'up_to':
        return this.startOver((await sql.findSequence(this.database, held.id)) ?? readTo, readTo);
    }
  }

  private startOver(heldTo: string, readTo: string): string {
    if (BigInt(heldTo) < BigInt(readTo)) {
      this.logger.warn(
        `the broker has lost events that it had confirmed; those after ${heldTo} are published again`,
      );
    }
    return heldTo;
  }

  private async keep(lease: sql.Lease, over: AbortController): Promise<void> {
    for (;;) {
      await sleep(KEEP_MS, undefined, { signal: over.signal }).catch(() => {});
      if (over.signal.aborted) return;
      // While the database is unreachable, no other process can claim the lease either.
      const isOurs = await sql.keepPlace(this.database, lease, LEASE_MS).catch(() => true);
      if (!isOurs) over.abort();
    }
  }

  private async tellFailure(lease: sql.Lease, reason: string): Promise<number> {
    this.failures += 1;
    const isNew = await sql.markFailing(this.database, lease, reason);
    if (isNew || this.failures === 1) {
      this.logger.warn(`the broker takes no events: ${reason}. They are kept, and published when it does`);
    }
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.failures - 1));
    return waitMs * (0.5 + Math.random() / 2);
  }

  private async tellSuccess(lease: sql.Lease): Promise<void> {
    this.failures = 0;
    const seconds = await sql.markWorking(this.database, lease);
    if (seconds !== null) this.logger.log(`the broker takes events again, after ${seconds} s`);
  }
}

/** Returns null if `stop` aborts first; a publisher that opens later is closed again. */
async function openUnless(
  stop: AbortSignal,
  open: () => Promise<EventPublisher>,
): Promise<EventPublisher | null> {
  const opening = open();
  const stopped = new Promise<null>((resolve) => stop.addEventListener('abort', () => resolve(null)));
  const publisher = await Promise.race([opening, stop.aborted ? null : stopped]);
  if (publisher === null) void opening.then((late) => late.close()).catch(() => {});
  return publisher;
}
