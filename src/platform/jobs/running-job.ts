import type { Database, Sql, Statement, Transaction } from '../database/database.js';
import { OUTCOME } from '../database/patience.js';
import { repeatWhileUnavailable } from '../database/repeat-while-unavailable.js';
import { REMOVE_KEY, FIND_OWN, LOCK_JOB, RESTART_BACKOFF } from './jobs.sql.js';

/** Thrown when the process is stopping; another worker does the rest of the job. */
export class JobInterruptedError extends Error {
  override readonly name = 'JobInterruptedError';
}

/** A running job that processes a list. Ends the task if another worker has the job. Completes the job without missing new work. */
export class RunningJob {
  private checkedAtMs = performance.now();

  constructor(
    private readonly database: Database,
    private readonly worker: string,
    private readonly id: string,
    private readonly isStopping: () => boolean,
  ) {}

  /** Throws if the process is stopping or another worker has the job. Call it between two steps. */
  async requireLock(): Promise<void> {
    if (this.isStopping()) throw new JobInterruptedError('the process stops');
    // Checks at most once a second: another worker can claim the job only after this worker's long lease has expired.
    if (performance.now() - this.checkedAtMs < 1_000) return;
    await this.requireOwn(this.database, FIND_OWN);
    this.checkedAtMs = performance.now();
  }

  /**
   * Completes the job if `isDone` returns true; returns that result. No work is lost, since `add_job` with this key waits for the row lock.
   * `isDone` sees all work added before the lock. Work added later inserts a new job, or finds the job that `andThen` has added.
   */
  async finishWhen(
    isDone: (tx: Transaction) => Promise<boolean>,
    andThen?: (tx: Transaction) => Promise<void>,
  ): Promise<boolean> {
    const finish = async (tx: Transaction) => {
      await this.requireOwn(tx, LOCK_JOB);
      // Runs in a separate statement, whose snapshot is taken after the lock.
      if (!(await isDone(tx))) return false;
      await tx.query(REMOVE_KEY, [this.id]);
      await andThen?.(tx);
      return true;
    };
    return repeatWhileUnavailable(() => this.database.transaction(finish, OUTCOME), 0);
  }

  /** Resets the count of attempts, so that the wait after a failure is short again. Call it after progress. */
  async restartBackoff(): Promise<void> {
    await this.database.query(RESTART_BACKOFF, [this.id, this.worker]);
  }

  /** Throws if another worker has the job, because this worker did not renew its lease in time. */
  private async requireOwn(sql: Sql, statement: string | Statement): Promise<void> {
    if ((await sql.query(statement, [this.id, this.worker])).length === 0)
      throw new Error('another worker has the job');
  }
}
