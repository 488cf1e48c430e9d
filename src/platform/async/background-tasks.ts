import { Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { errorText } from '../redaction/error-text.js';
import { backoffMs, type Backoff } from './backoff.rules.js';
import { Loop } from './loop.js';
import type { WakeUp } from './wake-up.js';

interface BackgroundTask {
  /** The pause after a run, unless the run returns another pause. */
  readonly everyMs: number;
  /** The pause after consecutive failures. Default: `everyMs`. */
  readonly backoff?: Backoff;
  /** Its signals end the pause. */
  readonly wakeUp?: WakeUp;
  /** A long run must end early when `stop` aborts. */
  readonly run: (stop: AbortSignal) => Promise<number | void>;
}

/** Repeats tasks from the start of the process to its shutdown. Each task has its own loop, so that a slow task does not delay another. */
export abstract class BackgroundTasks
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  protected readonly logger = new Logger(this.constructor.name);
  protected abstract readonly tasks: readonly BackgroundTask[];
  private loops: readonly Loop[] = [];

  /** Logs `failure` at the first of several consecutive failures of a task. `isActive`: whether this process runs the tasks. */
  protected constructor(
    private readonly failure: string,
    private readonly stopWithinMs: number,
    private readonly isActive = true,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.isActive) return;
    this.loops = this.tasks.map(
      ({ everyMs, backoff, wakeUp, run }) =>
        new Loop({
          step: async (stop) => (await run(stop)) ?? everyMs,
          onError: (error, failures) => {
            if (failures === 1) this.logger.warn(`${this.failure}: ${errorText(error)}`);
            return backoff ? backoffMs(backoff, failures) : everyMs;
          },
          wakeUp,
        }),
    );
    for (const loop of this.loops) loop.start();
  }

  // Does not wait, so that the tasks of all modules stop at the same time.
  onModuleDestroy(): void {
    for (const loop of this.loops) void loop.stop();
  }

  // Waits in this hook, because the next hook closes the database.
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop(this.stopWithinMs)));
  }
}
