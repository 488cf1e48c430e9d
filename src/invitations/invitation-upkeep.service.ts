import { Injectable } from '@nestjs/common';
import type { DomainEvent } from '../events/catalogue.rules.js';
import { OnEvent } from '../events/handlers/on-event.js';
import { BackgroundTasks } from '../platform/async/background-tasks.js';
import { Environment } from '../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../platform/shutdown/limits.js';
import { InvitationsStore } from './invitations.store.js';
import { OwnerStarts } from './owner/owner-starts.service.js';

const WISHES_EVERY_MS = 2_000;
const EXPIRE_EVERY_MS = 60_000;
const WISHES_AT_ONCE = 8;

/** Fulfils the owners' wishes that could not be fulfilled at once, records what expires, and follows the sessions of the locations. */
@Injectable()
export class InvitationUpkeep extends BackgroundTasks {
  protected readonly tasks = [
    { everyMs: WISHES_EVERY_MS, run: () => this.fulfilWishes() },
    { everyMs: EXPIRE_EVERY_MS, run: () => this.expire() },
  ];

  constructor(
    private readonly store: InvitationsStore,
    private readonly starts: OwnerStarts,
    environment: Environment,
  ) {
    super({
      runs: environment.ROLE !== 'api',
      failure: 'invitations could not be kept up to date',
      stopWithinMs: STOP_WITHIN_MS.invitations,
    });
  }

  @OnEvent(['session.awaiting_installation', 'session.online'], { handler: 'invitations' })
  async follow({ data }: DomainEvent<'session.awaiting_installation' | 'session.online'>): Promise<void> {
    await this.store.recordProgress(data.gridLocationId);
  }

  private async fulfilWishes(): Promise<void> {
    const wishes = await this.store.claimWishes(WISHES_AT_ONCE, this.starts.retryMs);
    await Promise.all(wishes.map((wish) => this.starts.fulfil(wish)));
  }

  private async expire(): Promise<void> {
    while (await this.store.expireOverdue());
  }
}
