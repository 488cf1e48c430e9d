import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Environment } from '../../platform/env/environment.js';
import { RegistrationSender } from './sender.service.js';
import { RegistrationsStore } from './registrations.store.js';

/** A due registration waits half a second on average, which nobody notices after a 202. */
const SWEEP_INTERVAL_MS = 1_000;
/** A claim is sent at once, so its size also limits the concurrent calls of a replica, and leaves room for the poller's. */
const BATCH = 8;
const ABANDONED_BATCH = 100;
/** A call still in flight after this long is left to its lease. It becomes `uncertain`, as it would have anyway. */
const STOP_MS = 3_000;

/**
 * Handles registrations that no request waits for, in every process with the role worker or all. Sends those that are due, and makes
 * those `uncertain` whose sender died. The table is the queue. Rejected: jobs. They would be a second record of what is due, and would
 * need the same lease, because a job may run twice and this call must not.
 */
@Injectable()
export class RegistrationsSweep implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RegistrationsSweep.name);
  private sending: Promise<void> | undefined;
  private moving: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly environment: Environment,
    private readonly store: RegistrationsStore,
    private readonly sender: RegistrationSender,
  ) {}

  /** Also runs at boot, since the previous process may have left registrations behind. */
  onApplicationBootstrap(): void {
    this.tick();
  }

  /** The two run independently: calls that hang must not delay the detection of a dead sender. */
  @Interval(SWEEP_INTERVAL_MS)
  tick(): void {
    if (this.environment.ROLE === 'api' || this.isStopping) return;
    this.moving ??= this.reported(this.moveAbandoned()).finally(() => (this.moving = undefined));
    this.sending ??= this.reported(this.sendAllDue()).finally(() => (this.sending = undefined));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    const ended = Promise.all([this.moving, this.sending]);
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
  }

  private async reported(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.logger.warn(`registrations were not swept: ${String(error)}`);
    }
  }

  private async moveAbandoned(): Promise<void> {
    const count = await this.store.moveAbandonedToUncertain(ABANDONED_BATCH);
    if (count > 0)
      this.logger.warn(`${count} registrations lost their sender during the call and are uncertain`);
  }

  private async sendAllDue(): Promise<void> {
    while (!this.isStopping && (await this.sendDue()));
  }

  /** Returns false if nothing more is due now, or if the remote service accepts no more. */
  private async sendDue(): Promise<boolean> {
    const claims = await this.store.claimDue(BATCH);
    const results = await Promise.allSettled(claims.map((claim) => this.sender.send(claim, 'background')));
    for (const result of results) {
      if (result.status === 'rejected')
        this.logger.error(`a registration's outcome was not stored: ${String(result.reason)}`);
    }
    return (
      claims.length === BATCH &&
      results.every((result) => result.status === 'fulfilled' && result.value?.status !== 'pending')
    );
  }
}
