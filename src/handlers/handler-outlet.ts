import { Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { within } from '../platform/async/within.js';
import type { Database } from '../platform/database/database.js';
import { stopsWithin } from '../platform/shutdown/limits.js';
import { errorText } from '../platform/redaction/error-text.js';
import { traced } from '../platform/tracing/tracing.js';
import type { Attempt, DueDelivery, Outlet } from '../delivery/outlet.js';
import type { SendOutcome } from '../delivery/delivery-plan.rules.js';
import type { DeliveryQueue } from '../delivery/queue.store.js';
import { isSubscribed } from './handlers.sql.js';
import type { EventHandler } from './on-event.js';

/** A part of the time of the deliveries. After it, the calls of handlers continue, are not recorded, and are repeated later. */
const STOP_WITHIN_MS = stopsWithin(2_000);
/** If a handler has not settled after 60 s, its call counts as failed. No remote call of a handler has a longer timeout. */
const DEADLINE_MS = 60_000;
/** The most concurrent calls of one handler. Each call has an event of another subject. */
const PLACES = 16;
/** From the tenth failure on, the wait no longer grows: it stays at 6 hours. */
const LAST_LONGER_WAIT = 9;

export class HandlerOutlet implements Outlet {
  readonly stopWithinMs = STOP_WITHIN_MS;
  private readonly logger = new Logger('EventHandlers');

  constructor(
    private readonly id: string,
    private readonly handler: EventHandler,
    private readonly database: Database,
    private readonly queue: DeliveryQueue,
    private readonly counter: Counter<'handler' | 'outcome'>,
  ) {}

  places(): number {
    return PLACES;
  }

  async send(delivery: DueDelivery): Promise<SendOutcome> {
    try {
      await this.call(delivery);
      return { kind: 'delivered' };
    } catch (error) {
      return { kind: 'failed', error: errorText(error) };
    }
  }

  private async call({ deliveryId, position, attempts, earlyAttempts, isEarly, ...event }: DueDelivery) {
    const { name, events, handle } = this.handler;
    if (events.includes(event.name)) {
      const { traceparent: parent = null } = event;
      return traced({ name: `handler ${name}`, kind: 'consumer', parent }, () =>
        within(DEADLINE_MS, Promise.resolve(handle(event)), () => {
          throw new Error(`the handler did not settle within ${DEADLINE_MS} ms`);
        }),
      );
    }
    if (await isSubscribed(this.database, name, event.name))
      throw new Error(`a newer release of ${name} listens to ${event.name}, this one does not`);
    const message = `${name} no longer listens to ${event.name}; dropped an event`;
    this.logger.warn({ message, eventId: event.id });
  }

  /** Returns a wait of about 3, 7, 20, 55 s and so on, up to 6 hours. Retries never stop. */
  waitAfter(failures: number): number {
    return Math.exp(1 + Math.min(failures, LAST_LONGER_WAIT)) * 1_000;
  }

  report({ delivery, outcome }: Attempt): void {
    const { name } = this.handler;
    this.counter.inc({ handler: name, outcome: outcome.kind === 'delivered' ? 'delivered' : 'failed' });
    if (outcome.kind === 'delivered') return;
    const message = `${name} failed on an event: ${outcome.error}`;
    this.logger[delivery.attempts === 0 ? 'warn' : 'debug']({ message, eventId: delivery.id });
  }

  record(attempts: readonly Attempt[]): Promise<boolean> {
    return this.queue.record(this.id, attempts);
  }
}
