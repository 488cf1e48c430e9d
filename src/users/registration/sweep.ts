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

/** A registration that is due waits half a second on average, which nobody notices who has been answered 202. */
const SWEEP_INTERVAL_MS = 1_000;
/** A claim is sent at once, so its size is also how many calls a replica makes at a time, and leaves room for the poller's. */
const BATCH = 8;
const ABANDONED_BATCH = 100;
/** A call that takes longer than this to end is left to its lease: it becomes uncertain, which it would have become anyway. */
const STOP_MS = 3_000;

/**
 * Looks after registrations that no request is waiting for, in every process with the role worker or all: sends those that are
 * due, and makes those whose sender died `uncertain`. The table is the queue. Jobs beside it would be a second account of what
 * is due, and would need the same lease, because a job may run twice and this call must not.
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

  /** At boot too, since the process that left something behind may have been the one before this. */
  onApplicationBootstrap(): void {
    this.tick();
  }

  /** The two go on beside each other: calls that hang must not keep a dead sender from being noticed. */
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
      results.every((result) => result.status === 'fulfilled' && result.value?.status !== 'pending')
    );
  }
}
