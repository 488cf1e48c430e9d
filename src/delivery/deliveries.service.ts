import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { Database } from '../platform/database/database.js';
import { LeasedWork } from '../platform/database/leased-work.js';
import { Environment } from '../platform/env/environment.js';
import { EventSignal } from '../events/event-signal.service.js';
import { sequenceEvents } from '../events/sequence.sql.js';
import { Drain } from './drain.js';
import { DELIVERIES_STOP_WITHIN_MS, type Outlet } from './outlet.js';
import { DeliveryQueue } from './queue.store.js';
import { ANY_DUE, ENDPOINT_LEASES, FIND_DUE } from './take.sql.js';

const WORK = {
  /** A renewal may take 4 s to fail. With a much shorter lease, a short outage of the database would end the lease and repeat attempts. */
  leaseMs: 30_000,
  backoff: { firstMs: 500, mostMs: 5_000 },
  failure: 'deliveries are interrupted',
  idField: 'endpointId',
};
/** The waits after a failed search for due endpoints. */
const SEARCH_BACKOFF = { firstMs: 20, mostMs: 5_000 };

type OpenOutlet = (endpointId: string) => Outlet;

/** Delivers events to webhook endpoints and handlers, if ROLE is worker or all. One process at a time delivers to an endpoint. */
@Injectable()
export class Deliveries extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'events.deliver',
      everyMs: 1_000,
      due: ANY_DUE,
      backoff: SEARCH_BACKOFF,
      wakeUp: this.events.notified,
      run: (stop) => this.startDue(stop),
    }),
  ];
  protected override readonly work = new LeasedWork(this.database, ENDPOINT_LEASES, WORK, this.logger);
  /** The key is the name of a handler, or '' for webhooks. */
  private readonly outlets = new Map<string, OpenOutlet>();

  constructor(
    { ROLE }: Environment,
    private readonly database: Database,
    private readonly events: EventSignal,
    private readonly queue: DeliveryQueue,
  ) {
    super('due endpoints could not be found', ROLE !== 'api', DELIVERIES_STOP_WITHIN_MS);
  }

  /** Makes this process deliver to the handler with this name or, for '', to all webhooks. Call it before the application starts. */
  serve(handler: string, open: OpenOutlet): void {
    this.outlets.set(handler, open);
  }

  private async startDue(stop: AbortSignal): Promise<void> {
    await sequenceEvents(this.database);
    const due = await this.database.query<{ id: string; handler: string }>(FIND_DUE, [
      [...this.outlets.keys()],
    ]);
    for (const { id, handler } of due)
      this.work.begin(id, stop, (lease) =>
        new Drain(id, this.queue, this.outlets.get(handler)!(id), lease).run(this.events),
      );
  }
}
