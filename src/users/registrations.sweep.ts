import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Environment } from '../platform/env/environment.js';
import { RegistrationSender } from './registration-sender.service.js';
import { RegistrationsStore } from './registrations.store.js';

/** A registration that is due waits half a second on average, which nobody notices who has been answered 202. */
const SWEEP_INTERVAL_MS = 1_000;
/** A claim is sent at once, so its size is also how many calls a replica makes at a time, and leaves room for the poller's. */
const BATCH = 8;
const ABANDONED_BATCH = 100;

/**
 * Looks after registrations that no request is waiting for, in every process with the role worker or all: sends those that are
 * due, and makes those whose sender died `uncertain`. The table is the queue. Jobs beside it would be a second account of what
 * is due, and would need the same lease, because a job may run twice and this call must not.
 */
@Injectable()
export class RegistrationsSweep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RegistrationsSweep.name);
  private running: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly environment: Environment,
    private readonly store: RegistrationsStore,
    private readonly sender: RegistrationSender,
  ) {}

  /** At boot too, since the process that left something behind may have been the one before this. */
  onApplicationBootstrap(): void {
    this.tick();
  }

  @Interval(SWEEP_INTERVAL_MS)
  tick(): void {
    if (this.environment.ROLE === 'api' || this.isStopping || this.running !== undefined) return;
    this.running = this.sweep()
      .catch((error: unknown) => this.logger.warn(`registrations were not swept: ${String(error)}`))
      .finally(() => (this.running = undefined));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async sweep(): Promise<void> {
    const abandoned = await this.store.moveAbandonedToUncertain(ABANDONED_BATCH);
    if (abandoned > 0)
      this.logger.warn(`${abandoned} registrations lost their sender during the call and are uncertain`);
    let goesOn = true;
    while (goesOn && !this.isStopping) goesOn = await this.sendDue();
  }

  /** False when there is no more to do now, or the remote service takes no more. */
  private async sendDue(): Promise<boolean> {
    const claims = await this.store.claimDue(BATCH);
    const results = await Promise.allSettled(claims.map((claim) => this.sender.send(claim, 'background')));
    for (const result of results) {
      if (result.status === 'rejected')
        this.logger.error(`a registration's outcome was not stored: ${String(result.reason)}`);
    }
    return (
      claims.length === BATCH &&
      results.every((result) => result.status === 'fulfilled' && result.value !== 'pending')
    );
  }
}
