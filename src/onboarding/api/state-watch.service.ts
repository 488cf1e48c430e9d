import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { EventSignal } from '../../events/event-signal.service.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { SessionState } from '../rules/machine.rules.js';
import { SessionAnswersStore } from '../store/session-views.store.js';

interface Waiter {
  readonly sessionId: string;
  readonly from: SessionState;
  readonly resolve: () => void;
}

/**
 * Lets callers wait for a session to leave a state. A state changes together with its event, so one query serves all waiters whenever
 * there may be an event, at least once a second.
 */
@Injectable()
export class StateWatch implements OnModuleInit, OnModuleDestroy {
  private readonly waiters = new Set<Waiter>();
  private forgetEvents: (() => void) | undefined;
  private isLooking = false;
  private lookAgain = false;
  private isStopping = false;

  constructor(
    private readonly answers: SessionAnswersStore,
    private readonly signal: EventSignal,
    metrics: Metrics,
  ) {
    metrics.gauge({
      name: 'pv_waiting_reads',
      help: 'Requests that wait for a session to change',
      collect: (gauge) => gauge.set(this.waiters.size),
    });
  }

  onModuleInit(): void {
    this.forgetEvents = this.signal.onEvents(() => void this.look());
  }

  // A waiting request would otherwise delay the shutdown.
  onModuleDestroy(): void {
    this.isStopping = true;
    this.forgetEvents?.();
    for (const waiter of [...this.waiters]) waiter.resolve();
  }

  /**
   * Resolves when the session has another state than `from` or is no longer watched, after `waitMs`, when `gone` aborts, or when the
   * process stops.
   */
  async leaves(sessionId: string, from: SessionState, waitMs: number, gone: AbortSignal): Promise<void> {
    if (gone.aborted || this.isStopping) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        clearTimeout(timeout);
        gone.removeEventListener('abort', settle);
        this.waiters.delete(waiter);
        resolve();
      };
      const waiter: Waiter = { sessionId, from, resolve: settle };
      const timeout = setTimeout(settle, waitMs);
      gone.addEventListener('abort', settle);
      this.waiters.add(waiter);
      // The state may have changed since the read that returned `from`.
      void this.look();
    });
  }

  /**
   * Queries the states of all waiters, one query at a time. A call during a query causes another one, since the first may have missed the
   * change.
   */
  private async look(): Promise<void> {
    this.lookAgain = true;
    if (this.isLooking) return;
    this.isLooking = true;
    while (this.lookAgain && this.waiters.size > 0) {
      this.lookAgain = false;
      try {
        await this.lookOnce([...this.waiters]);
      } catch {
        // The database is unavailable. The waiters continue to wait; afterwards each caller reads the session itself.
      }
    }
    this.isLooking = false;
  }

  private async lookOnce(waiters: readonly Waiter[]): Promise<void> {
    const ids = new Set(waiters.map(({ sessionId }) => sessionId));
    const states = await this.answers.findWatchedStates([...ids]);
    for (const { sessionId, from, resolve } of waiters) {
      if (states.get(sessionId) !== from) resolve();
    }
  }
}
