import type { Database, Transaction } from '../database/database.js';
import * as sql from './jobs.sql.js';

/** The job was given to another worker, because this one was silent for too long. */
class JobLostError extends Error {
  override readonly name = 'JobLostError';
}

/** The process stops, and the rest of the job is for another. */
export class JobBrokenOffError extends Error {
  override readonly name = 'JobBrokenOffError';
}

/** A job is lost by a pause of many seconds, so a step that follows the last look this closely needs no look of its own. */
const LOOK_EVERY_MS = 1_000;

/** A job while it runs, for a task that works off a list and must neither do so twice at once nor overlook an addition. */
export class RunningJob {
  private lookedAtMs = performance.now();

  constructor(
    private readonly database: Database,
    private readonly worker: string,
    private readonly id: string,
    private readonly isStopping: () => boolean,
  ) {}

  /** To be called between two steps: throws when the rest is for somebody else to do. */
  async goOn(): Promise<void> {
    if (this.isStopping()) throw new JobBrokenOffError('the process stops');
    if (performance.now() - this.lookedAtMs < LOOK_EVERY_MS) return;
    if (!(await sql.isHeld(this.database, this.worker, this.id)))
      throw new JobLostError('another worker has the job');
    this.lookedAtMs = performance.now();
  }

  /**
   * Ends the job if there is nothing left to do; answers whether it did. For a job whose key was added with `unsafe_dedupe`:
   * whoever adds work and meets the key before this has added it before `isDone` looks; whoever comes later finds no key, or the
   * job that `andThen` adds with it, for what is due later.
   */
  async finishWhen(
    isDone: (tx: Transaction) => Promise<boolean>,
    andThen?: (tx: Transaction) => Promise<void>,
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if (!(await sql.holdJob(tx, this.worker, this.id)))
        throw new JobLostError('another worker has the job');
      // A statement of its own, hence with a snapshot from after the lock.
      if (!(await isDone(tx))) return false;
      await sql.giveUpKey(tx, this.id);
      await andThen?.(tx);
      return true;
    });
  }

  /** The wait after a failure grows with the attempts of the job; progress means that the next failure is a first one. */
  async restartBackoff(): Promise<void> {
    await sql.restartBackoff(this.database, this.worker, this.id);
  }
}
