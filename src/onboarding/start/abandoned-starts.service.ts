import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../../platform/tasks/background-tasks.js';
import { AbandonedLeases } from '../../platform/database/abandoned-leases.js';
import { Environment } from '../../platform/env/environment.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { EXPIRED_LEASES } from './starts.sql.js';
import { StartsStore } from './starts.store.js';

const STOP_WITHIN_MS = stopsWithin(1_000);

/** Ends starts whose lease has expired: a worker marks them as failed, even if nobody repeats the request. */
@Injectable()
export class AbandonedStarts extends BackgroundTasks {
  protected readonly tasks = [
    task({ name: 'starts.end_abandoned', everyMs: 1_000, due: EXPIRED_LEASES, run: () => this.end() }),
  ];
  // Ends a start 4 s after this worker first saw its expired lease. So a live process can store its outcome after a database outage.
  private readonly expiredLeases = new AbandonedLeases(() => this.starts.findExpiredLeases());

  constructor(
    private readonly starts: StartsStore,
    { ROLE }: Environment,
  ) {
    super('abandoned starts could not be ended', ROLE !== 'api', STOP_WITHIN_MS);
  }

  private async end(): Promise<void> {
    const leases = await this.expiredLeases.findSeen();
    if (leases.length === 0) return;
    const message = 'a start has failed: its lease expired before the outcome was stored';
    for (const gridLocationId of await this.starts.endAbandoned(leases))
      this.logger.warn({ message, gridLocationId });
  }
}
