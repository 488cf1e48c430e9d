import { Logger } from '@nestjs/common';
import { describeState } from '../platform/database/sql-state.js';
import { isDatabaseUnavailable } from '../platform/problem/database-unavailable.js';
import type { Attempt, Outlet } from './outlet.js';
import type { DeliveryQueue } from './queue.store.js';

/** The pause between two tries to record the attempts that the database has refused. */
const RETRY_MS = 500;

interface RefusedAttempt {
  readonly attempt: Attempt;
  /** When to postpone the delivery instead, by `performance.now()`. */
  readonly until: number;
}

/**
 * Records the attempts of one endpoint that have ended: all together or, after an error, one by one. So an attempt that the database
 * refuses, for example because of a damaged row, does not delay the others. After the patience, the delivery of a refused attempt is
 * postponed.
 */
export class AttemptWrites {
  private readonly logger = new Logger('Deliveries');
  private readonly ended: Attempt[] = [];
  private readonly refused: RefusedAttempt[] = [];
  private retryAtMs = -Infinity;
  private isThereMore = false;

  constructor(
    private readonly endpointId: string,
    private readonly queue: Pick<DeliveryQueue, 'patienceMs' | 'postpone' | 'repeatUntil'>,
    private readonly outlet: Pick<Outlet, 'record'>,
    /** Called with each attempt that is recorded, or whose delivery is postponed. */
    private readonly settle: (attempt: Attempt) => void,
  ) {}

  add(attempt: Attempt): void {
    this.ended.push(attempt);
  }

  /** How many attempts the database has refused so far. */
  get refusals(): number {
    return this.refused.length;
  }

  /** Records what the database accepts. Returns whether the next delivery of one of the subjects is due. */
  async write(): Promise<boolean> {
    this.isThereMore = false;
    await this.recordTogether();
    await this.recordRefused();
    return this.isThereMore;
  }

  /** Repeats `write` until no attempt is left, for as long as the patience lasts. */
  async end(): Promise<void> {
    const until = performance.now() + this.queue.patienceMs;
    await this.queue.repeatUntil(async () => {
      await this.write();
      return this.ended.length + this.refused.length === 0 || performance.now() > until;
    }, RETRY_MS);
  }

  private async recordTogether(): Promise<void> {
    const attempts = [...this.ended];
    if (attempts.length === 0) return;
    try {
      await this.record(attempts);
    } catch {
      const until = performance.now() + this.queue.patienceMs;
      this.refused.push(...attempts.map((attempt) => ({ attempt, until })));
      this.retryAtMs = -Infinity;
    }
    // Removes only these attempts, because others may have ended during the write.
    this.ended.splice(0, attempts.length);
  }

  private async recordRefused(): Promise<void> {
    if (performance.now() < this.retryAtMs) return;
    for (let left = this.refused.length; left > 0; left--) {
      const next = this.refused.shift()!;
      try {
        await this.record([next.attempt]);
      } catch (error) {
        // The attempts behind it come first the next time, since the error may be that of this attempt.
        if (performance.now() < next.until || !(await this.postpone(next.attempt, error)))
          this.refused.push(next);
        if (isDatabaseUnavailable(error)) break;
      }
    }
    this.retryAtMs = performance.now() + RETRY_MS;
  }

  private async record(attempts: readonly Attempt[]): Promise<void> {
    this.isThereMore = (await this.outlet.record(attempts)) || this.isThereMore;
    attempts.forEach(this.settle);
  }

  /** Records the attempt without texts of the receiver or, if the database refuses even that, makes its delivery due later. */
  private async postpone(attempt: Attempt, error: unknown): Promise<boolean> {
    const { endpointId } = this;
    const { delivery, outcome } = attempt;
    const why = `our database could not store the attempt (${describeState(error)})`;
    const bare = { ...outcome, answer: undefined, error: why };
    try {
      await this.record([{ ...attempt, outcome: bare }]);
    } catch {
      const isPostponed = await this.queue.postpone(endpointId, delivery).catch(() => false);
      if (!isPostponed) return false;
      const message = `${why}; the delivery is postponed, and the event will be sent again`;
      this.logger.error({ message, endpointId, eventId: delivery.id });
      this.settle(attempt);
    }
    return true;
  }
}
