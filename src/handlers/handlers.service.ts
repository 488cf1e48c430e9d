import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { Database } from '../platform/database/database.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { Deliveries } from '../delivery/deliveries.service.js';
import { DeliveryQueue } from '../delivery/queue.store.js';
import { sequenceEvents } from '../events/sequence.sql.js';
import { DELIVERIES_STOP_WITHIN_MS } from '../delivery/outlet.js';
import { HandlerOutlet } from './handler-outlet.js';
import * as sql from './handlers.sql.js';
import { discoverHandlers } from './on-event.js';

/** Discovers the @OnEvent methods at start and makes this process deliver to them. Each method is stored as an endpoint. */
@Injectable()
export class EventHandlers extends BackgroundTasks implements OnModuleInit {
  protected readonly tasks = [
    task({ name: 'events.maintain_handlers', everyMs: 3_600_000, run: () => this.maintain() }),
  ];
  private readonly counter = this.metrics.counter({
    name: 'pv_onboarding_handler_deliveries_total',
    help: 'Events passed to handlers in this process, by outcome: delivered, failed and to be retried',
    labels: ['handler', 'outcome'],
  });
  private names: readonly string[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly deliveries: Deliveries,
    private readonly queue: DeliveryQueue,
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {
    super('subscriptions could not be updated', true, DELIVERIES_STOP_WITHIN_MS);
  }

  // Subscribes before the bootstrap hooks of all modules, so that a new handler gets the events appended in those hooks.
  async onModuleInit(): Promise<void> {
    const handlers = discoverHandlers(this.discovery);
    this.names = handlers.map(({ name }) => name);
    for (const handler of handlers) {
      const open = (id: string) => new HandlerOutlet(id, handler, this.database, this.queue, this.counter);
      this.deliveries.serve(handler.name, open);
    }
    if (handlers.length === 0) return;
    await sequenceEvents(this.database);
    await sql.subscribeHandlers(this.database, handlers);
  }

  private async maintain(): Promise<void> {
    await sql.touchHandlers(this.database, this.names);
    for (const { name, pending } of await sql.retireHandlers(this.database))
      this.logger.warn(
        `no process has had the handler ${name} for 7 days; dropped its ${pending} pending events`,
      );
  }
}
