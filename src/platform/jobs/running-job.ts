import type { Database, Transaction } from '../database/database.js';
import * as sql from './jobs.sql.js';

/** The job was given to another worker, because this worker did not renew its lease in time. */
class JobLostError extends Error {
  override readonly name = 'JobLostError';
}

/** The process is stopping; another worker does the rest of the job. */
export class JobBrokenOffError extends Error {
  override readonly name = 'JobBrokenOffError';
}

/** A job is lost only after a pause of many seconds, so a step within this time of the last check needs no check. */
const LOOK_EVERY_MS = 1_000;

/** A running job, for a task that processes a list: it must neither process the list twice at once nor miss an addition. */
export class RunningJob {
  private lookedAtMs = performance.now();

  constructor(
    private readonly database: Database,
    private readonly worker: string,
    private readonly id: string,
    private readonly isStopping: () => boolean,
  ) {}

  /** Throws if the process is stopping or another worker has the job. Call it between two steps. */
  async goOn(): Promise<void> {
    if (this.isStopping()) throw new JobBrokenOffError('the process stops');
    if (performance.now() - this.lookedAtMs < LOOK_EVERY_MS) return;
    if (!(await sql.isHeld(this.database, this.worker, this.id)))
      throw new JobLostError('another worker has the job');
    this.lookedAtMs = performance.now();
  }

  /**
   * Completes the job if `isDone`; returns whether it did. No work is lost: the row lock blocks concurrent adds. For jobs whose key was
   * added with `unsafe_dedupe`: work added before the lock is visible to `isDone`; work added after it finds no key, or the job that
   * `andThen` adds with the same key for work due later.
   */
  async finishWhen(
    isDone: (tx: Transaction) => Promise<boolean>,
    andThen?: (tx: Transaction) => Promise<void>,
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if (!(await sql.holdJob(tx, this.worker, this.id)))
        throw new JobLostError('another worker has the job');
      // A separate statement, so that its snapshot is taken after the lock.
      if (!(await isDone(tx))) return false;
      await sql.giveUpKey(tx, this.id);
      await andThen?.(tx);
      return true;
    });
  }

  /**
   * Resets the attempts of the job, since the wait after a failure grows with them. Call it after progress, so that the next failure counts
   * as the first.
   */
  async restartBackoff(): Promise<void> {
    await sql.restartBackoff(this.database, this.worker, this.id);
  }
}
