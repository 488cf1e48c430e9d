import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { BackgroundTasks } from '../../platform/async/background-tasks.js';
import { within } from '../../platform/async/within.js';
import { Database, type Sql } from '../../platform/database/database.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import type { RunningJob } from '../../platform/jobs/running-job.js';
import { Metrics } from '../../observability/metrics/metrics.js';
import { errorText } from '../../observability/redaction/error-text.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { traced } from '../../observability/tracing/tracing.js';
import type { DomainEvent } from '../catalogue.rules.js';
import * as sql from './handlers.sql.js';
import { withCurrentData } from '../event-data.sql.js';
import { discoverHandlers, type EventHandler } from './on-event.js';

/** Frees the job slot of a handler that never settles. Longer than the timeout of any call that a handler makes. */
const HANDLER_DEADLINE_MS = 60_000;

/** Discovers the @OnEvent methods at start, maintains their subscriptions and delivers their events. */
@Injectable()
export class EventHandlers extends BackgroundTasks implements OnModuleInit {
  protected readonly tasks = [{ everyMs: 3_600_000, run: () => this.maintain() }];
  private readonly deliveries = this.metrics.counter({
    name: 'pv_onboarding_handler_deliveries_total',
    help: 'Events passed to handlers in this process, by outcome: delivered, failed and to be retried',
    labels: ['outcome'],
  });
  private names: readonly string[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {
    super({ runs: true, failure: 'subscriptions could not be updated', stopWithinMs: STOP_WITHIN_MS.jobs });
  }

  // Subscribes before the bootstrap hooks of all modules, so that this process handles events appended in those hooks.
  async onModuleInit(): Promise<void> {
    const handlers = discoverHandlers(this.discovery);
    this.names = handlers.map(({ name }) => name);
    for (const handler of handlers) {
      this.jobs.register(`event:${handler.name}`, (payload, job) =>
        this.deliver(handler, (payload as { subject: string }).subject, job),
      );
    }
    await sql.subscribeHandlers(this.database, handlers);
  }

  private async maintain(): Promise<void> {
    await sql.touchHandlers(this.database, this.names);
    for (const { name, pending } of await sql.retireHandlers(this.database)) {
      this.logger.warn(
        `no process has had the handler ${name} for 7 days; dropped its ${pending} pending deliveries`,
      );
    }
    const resumed = await sql.resumeDeliveries(this.database);
    if (resumed > 0) this.logger.warn(`added the missing jobs of ${resumed} deliveries`);
  }

  /** Delivers the pending events of the subject in order. The first failure ends the job; the job is retried with backoff. */
  private async deliver(handler: EventHandler, subject: string, job: RunningJob): Promise<void> {
    const { name } = handler;
    let delivered = 0;
    for (;;) {
      const pending = await sql.readPending(this.database, name, subject);
      const isNothingPending = async (tx: Sql) => (await sql.readPending(tx, name, subject)).length === 0;
      if (pending.length === 0 && (await job.finishWhen(isNothingPending))) return;
      for (const next of pending) {
        await job.requireLock();
        const event = await withCurrentData(this.database, next.position, next.event);
        if (event === null) break;
        try {
          await this.call(handler, event);
        } catch (error) {
          const reason = errorText(error);
          this.deliveries.inc({ outcome: 'failed' });
          const attempts = await sql.markFailed(this.database, name, next, reason);
          const message = `${name} failed on an event: ${reason}`;
          this.logger[attempts === 1 ? 'warn' : 'debug']({ message, eventId: next.event.id });
          if (delivered > 0) await job.restartBackoff();
          // graphile-worker stores this message, and an erasure does not change it. So the message must not contain `reason`.
          throw new Error(`${name} failed; its delivery has the error`);
        }
        await sql.deleteDelivery(this.database, name, next.position);
        this.deliveries.inc({ outcome: 'delivered' });
        delivered += 1;
      }
    }
  }

  private async call({ name, events, handle }: EventHandler, event: DomainEvent): Promise<void> {
    if (events.includes(event.name)) {
      const { traceparent: parent = null } = event;
      return traced({ name: `handler ${name}`, kind: 'consumer', parent }, () =>
        within(HANDLER_DEADLINE_MS, Promise.resolve(handle(event)), () => {
          throw new Error(`the handler did not settle within ${HANDLER_DEADLINE_MS} ms`);
        }),
      );
    }
    if (await sql.isSubscribed(this.database, name, event.name))
      throw new Error(`a newer release of ${name} listens to ${event.name}, this one does not`);
    this.logger.warn({
      message: `${name} no longer listens to ${event.name}; dropped an event`,
      eventId: event.id,
    });
  }
}
