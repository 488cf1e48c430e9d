import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../platform/tasks/background-tasks.js';
import { task } from '../../platform/tasks/task.js';
import { within } from '../../platform/async/within.js';
import { Database } from '../../platform/database/database.js';
import { Leases } from '../../platform/database/lease.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { EventSignal } from '../event-signal.service.js';
import { sequenceEvents } from '../sequence.sql.js';
import { Drain } from './drain.js';
import { DELIVERIES_STOP_WITHIN_MS, type Outlet } from './outlet.js';
import { DeliveryQueue } from './queue.store.js';
import { ANY_DUE, ENDPOINT_LEASES, FIND_DUE } from './take.sql.js';

/** A renewal may take 4 s to fail. With a much shorter lease, a short outage of the database would end the lease and repeat attempts. */
const LEASE_MS = 30_000;
/** The waits after a failed drain (BACKOFF) and after a failed search for due endpoints (SEARCH_BACKOFF). */
const BACKOFF = { firstMs: 500, mostMs: 5_000 };
const SEARCH_BACKOFF = { firstMs: 20, mostMs: 5_000 };
/** How often to ask whether an endpoint is due. A NOTIFY of new events does not wait for it. */
const SEARCH_EVERY_MS = 1_000;

type OpenOutlet = (endpointId: string) => Outlet;

/** Delivers events to webhook endpoints and handlers, if ROLE is worker or all. One process at a time delivers to an endpoint. */
@Injectable()
export class Deliveries extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'events.deliver',
      everyMs: SEARCH_EVERY_MS,
      due: ANY_DUE,
      backoff: SEARCH_BACKOFF,
      wakeUp: this.events.notified,
      run: (stop: AbortSignal) => this.startDue(stop),
    }),
  ];
  private readonly leases = new Leases(this.database, ENDPOINT_LEASES, {
    leaseMs: LEASE_MS,
    backoff: BACKOFF,
  });
  /** The key is the name of a handler, or '' for webhooks. */
  private readonly outlets = new Map<string, OpenOutlet>();
  /** The running drains of this process, by endpoint id. */
  private readonly drains = new Map<string, Promise<void>>();

  constructor(
    { ROLE }: Environment,
    private readonly database: Database,
    private readonly events: EventSignal,
    private readonly queue: DeliveryQueue,
  ) {
    super('due endpoints could not be found', DELIVERIES_STOP_WITHIN_MS, ROLE !== 'api');
  }

  /** Makes this process deliver to the handler with this name or, for '', to all webhooks. Call it before the application starts. */
  serve(handler: string, open: OpenOutlet): void {
    this.outlets.set(handler, open);
  }

  override async beforeApplicationShutdown(): Promise<void> {
    await super.beforeApplicationShutdown();
    await within(DELIVERIES_STOP_WITHIN_MS, Promise.all(this.drains.values()));
  }

  private async startDue(stop: AbortSignal): Promise<void> {
    await sequenceEvents(this.database);
    const due = await this.database.query<{ id: string; handler: string }>(FIND_DUE, [
      [...this.outlets.keys()],
    ]);
    for (const { id, handler } of due) {
      if (this.drains.has(id)) continue;
      const drain = this.drain(id, this.outlets.get(handler)!, stop).finally(() => this.drains.delete(id));
      this.drains.set(id, drain);
    }
  }

  private async drain(endpointId: string, open: OpenOutlet, stop: AbortSignal): Promise<void> {
    try {
      await this.leases.runUnderLease(endpointId, stop, (lease) =>
        new Drain(endpointId, this.queue, open(endpointId), lease).run(this.events),
      );
    } catch (error) {
      if (stop.aborted) return;
      this.logger.warn({ message: `deliveries are interrupted: ${errorText(error)}`, endpointId });
    }
  }
}
