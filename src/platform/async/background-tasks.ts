import { Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { errorText } from '../../observability/redaction/error-text.js';
import { Loop } from './loop.js';

interface BackgroundTask {
  /** The pause after each run. */
  readonly everyMs: number;
  /** A long run must end early when `stop` aborts. */
  readonly run: (stop: AbortSignal) => Promise<void>;
}

/** Repeats tasks from the start of the process to its shutdown. Each task has its own loop, so that a slow task does not delay another. */
export abstract class BackgroundTasks implements OnApplicationBootstrap, BeforeApplicationShutdown {
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
      ({ everyMs, run }) =>
        new Loop({
          step: async (stop) => {
            await run(stop);
            return everyMs;
          },
          onError: (error, failures) => {
            if (failures === 1) this.logger.warn(`${this.failure}: ${errorText(error)}`);
            return everyMs;
          },
        }),
    );
    for (const loop of this.loops) loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop(this.stopWithinMs)));
  }
}
