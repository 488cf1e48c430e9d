import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type { SessionState } from './machine.js';
import { SessionAnswersStore } from './session-answers.store.js';

interface Waiter {
  readonly sessionId: string;
  readonly from: SessionState;
  readonly resolve: () => void;
}

const LOOK_EVERY_MS = 200;

/**
 * Callers who wait for a session to leave a state, all of them served by one query every 200 ms. NOTIFY would be sooner by a
 * hundred milliseconds and needs this query too, since a lost connection loses what it would have told.
 */
@Injectable()
export class StateWatch implements OnModuleDestroy {
  private readonly waiters = new Set<Waiter>();
  private looking: NodeJS.Timeout | undefined;

  constructor(private readonly answers: SessionAnswersStore) {}

  /** Resolves when the session is in another state than `from`, or after `waitMs`, or when the process stops. */
  async leaves(sessionId: string, from: SessionState, waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const waiter: Waiter = {
        sessionId,
        from,
        resolve: () => {
          clearTimeout(timeout);
          this.waiters.delete(waiter);
          resolve();
        },
      };
      const timeout = setTimeout(waiter.resolve, waitMs);
      this.waiters.add(waiter);
      this.lookSoon();
    });
  }

  // A waiting request would otherwise hold up the shutdown for as long as it waits.
  onModuleDestroy(): void {
    for (const waiter of [...this.waiters]) waiter.resolve();
  }

  private lookSoon(): void {
    this.looking ??= setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }

  private async look(): Promise<void> {
    try {
      const states = await this.answers.findStates([
        ...new Set([...this.waiters].map(({ sessionId }) => sessionId)),
      ]);
      for (const waiter of [...this.waiters]) {
        if (states.get(waiter.sessionId) !== waiter.from) waiter.resolve();
      }
    } catch {
      // The database is away: the waiters go on waiting, and are answered what their own read then brings.
    }
    this.looking = undefined;
    if (this.waiters.size > 0) this.lookSoon();
  }
}
