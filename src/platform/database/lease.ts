import { randomUUID } from 'node:crypto';
import { backoffMs, type Backoff } from '../async/backoff.rules.js';
import { Loop } from '../async/loop.js';
import type { Database } from './database.js';
import type { LeaseStatements } from './lease.sql.js';
import { OUTCOME } from './connection/patience.js';
import { undo } from './repeat-until-effective.js';

interface ClaimedRow {
  readonly id: string;
  readonly leaseToken: string;
}

/** The right to work on a row until a time of the database's clock. */
export interface Lease {
  /** Every write must compare it (`… AND lease_token = …`), so that it changes nothing if another process has claimed the row. */
  readonly token: string;
  /** Aborts when the lease may have expired, when another process has claimed the row, and when the caller stops. */
  readonly signal: AbortSignal;
  /** Returns false if another process may have claimed the row. Call it before an effect that no statement guards. */
  isCertain(): boolean;
}

export interface LeaseOptions {
  readonly leaseMs: number;
  /** How long a row waits after `runUnderLease` has failed on it in this process. Default: the row does not wait. */
  readonly backoff?: Backoff;
}

/** The `stop` signal for work that always runs to its end. */
export const NEVER = new AbortController().signal;

/** The lease is renewed every leaseMs / RENEWALS, so that a few failed renewals do not lose it. */
const RENEWALS = 4;

/** The leases on the rows of one table: at most one process at a time works on a row. */
export class Leases {
  /** The number of consecutive failures of the work on a row, by its id. */
  private readonly failures = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly statements: LeaseStatements,
    private readonly options: LeaseOptions,
  ) {}

  /**
   * Claims the row, runs `work` and releases the row. Returns false if the row is not due or another process has it. `work` must end early
   * when its signal aborts, and returns the ms until the row is due again. If `work` throws, the row waits for the backoff, and the caller
   * gets the error.
   */
  async runUnderLease(id: string, stop: AbortSignal, work: (lease: Lease) => Promise<number>) {
    const leaseToken = randomUUID();
    const { claim, release } = this.statements;
    const claimedAtMs = performance.now();
    try {
      const claimed = await this.database.query(claim, [id, leaseToken, this.options.leaseMs], OUTCOME);
      if (claimed.length === 0) return false;
    } catch (error) {
      // If the claim was committed, it would block the row until the lease expires.
      undo(this.database, release, [id, leaseToken, 0], error, this.options.leaseMs);
      throw error;
    }
    let dueInMs = 0;
    try {
      dueInMs = await this.renewWhile({ id, leaseToken }, stop, work, claimedAtMs);
      this.failures.delete(id);
      return true;
    } catch (error) {
      const failures = (this.failures.get(id) ?? 0) + 1;
      this.failures.set(id, failures);
      const { backoff } = this.options;
      dueInMs = backoff ? backoffMs(backoff, failures, Math.random()) : 0;
      throw error;
    } finally {
      const values = [id, leaseToken, dueInMs];
      const end = () => this.database.query(release, values, OUTCOME);
      // Ignores a failure after leaseMs, because the lease has then expired anyway.
      await this.database.outcomes.repeat(end, this.options.leaseMs).catch(() => {});
    }
  }

  /** Renews the lease on a claimed row while `work` runs. `claimedAtMs`: when its claim was sent, by `performance.now()`. */
  async renewWhile<T>(
    { id, leaseToken: token }: ClaimedRow,
    stop: AbortSignal,
    work: (lease: Lease) => Promise<T>,
    claimedAtMs = performance.now(),
  ): Promise<T> {
    const { leaseMs } = this.options;
    const lost = new AbortController();
    const lose = (): void => lost.abort(new Error('another process may have the lease'));
    let renewedAtMs = claimedAtMs;
    let expiry = setTimeout(lose, leaseMs);
    const renewal = new Loop({
      step: async () => {
        const sentAtMs = performance.now();
        const waitMs = renewedAtMs + leaseMs / RENEWALS - sentAtMs;
        if (waitMs > 0) return waitMs;
        const renewed = await this.database.query(this.statements.renew, [id, token, leaseMs], OUTCOME);
        if (renewed.length === 0) lose();
        renewedAtMs = sentAtMs;
        clearTimeout(expiry);
        expiry = setTimeout(lose, sentAtMs + leaseMs - performance.now());
        return leaseMs / RENEWALS;
      },
      onError: () => leaseMs / RENEWALS / 2,
    });
    renewal.start();
    try {
      return await work({
        token,
        signal: AbortSignal.any([lost.signal, stop]),
        isCertain: () => !lost.signal.aborted && performance.now() - renewedAtMs < leaseMs,
      });
    } finally {
      // Aborts the signal, since Node 20 keeps a signal of AbortSignal.any with listeners in memory until it aborts.
      lose();
      await renewal.stop();
      clearTimeout(expiry);
    }
  }
}
