import type { Backoff } from '../async/backoff.rules.js';
import type { WakeUp } from '../async/wake-up.js';

export interface BackgroundTask {
  /** Unique in the deployment: the key of its row in the table `tasks`. */
  readonly name: string;
  /** Whether every process runs it, or one process at a time for the whole deployment. Default: process. */
  readonly once?: 'process' | 'deployment';
  /** The pause after a run, unless the run returns another pause. */
  readonly everyMs: number;
  /**
   * A SELECT that returns a row while the task has work. After its pause, the task then runs only if there is a row. DueWork asks for all
   * tasks together. The first run in a process does not wait.
   */
  readonly due?: string;
  /** The pause after consecutive failures. Default: `everyMs`. */
  readonly backoff?: Backoff;
  /** Its signals end the pause. */
  readonly wakeUp?: WakeUp;
  /** A long run must end early when `stop` aborts. */
  readonly run: (stop: AbortSignal) => Promise<number | void>;
}
