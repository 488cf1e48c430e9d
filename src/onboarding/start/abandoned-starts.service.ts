import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Loop } from '../../platform/async/loop.js';
import { SeenLeases } from '../../platform/database/seen-leases.js';
import { Environment } from '../../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../../platform/shutdown/limits.js';
import { StartsStore } from './starts.store.js';

const PAUSE_MS = 1_000;

/** Ends starts whose lease has expired: a worker marks them as failed, even if nobody repeats the request. */
@Injectable()
export class AbandonedStarts implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(AbandonedStarts.name);
  // A lease is ended 4 s after this worker first saw it expired, so a live process can store its outcome first when the database is back.
  private readonly expiredLeases = new SeenLeases(() => this.starts.findExpiredLeases());
  private readonly loop = new Loop({
    step: () => this.end(),
    onError: (error, failures) => {
      if (failures === 1) this.logger.warn(`abandoned starts could not be ended: ${String(error)}`);
      return PAUSE_MS;
    },
  });

  constructor(
    private readonly starts: StartsStore,
    private readonly environment: Environment,
  ) {}

  onApplicationBootstrap(): void {
    if (this.environment.ROLE !== 'api') this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop(STOP_WITHIN_MS.abandonedStarts);
  }

  private async end(): Promise<number> {
    const leases = await this.expiredLeases.findSeen();
    const count = leases.length > 0 ? await this.starts.endAbandoned(leases) : 0;
    if (count > 0)
      this.logger.warn(`${count} starts have failed: their lease expired before the outcome was stored`);
    return PAUSE_MS;
  }
}
