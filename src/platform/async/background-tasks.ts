import { Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { errorText } from '../../observability/redaction/error-text.js';
import { Loop } from './loop.js';

interface BackgroundTask {
  /** The pause after each run. */
  readonly everyMs: number;
  /** A long run must end early when `stop` aborts. */
  readonly run: (stop: AbortSignal) => Promise<void>;
}

interface Options {
  /** Whether this process runs the tasks. Most tasks run only in workers. */
  readonly runs: boolean;
  /** The message logged at the first of several consecutive failures of a task. */
  readonly failure: string;
  readonly stopWithinMs: number;
}

/** Repeats tasks from the start of the process to its shutdown. Each task has its own loop, so that a slow task does not delay another. */
export abstract class BackgroundTasks implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  protected abstract readonly tasks: readonly BackgroundTask[];
  private loops: readonly Loop[] = [];

  protected constructor(private readonly options: Options) {}

  onApplicationBootstrap(): void {
    if (!this.options.runs) return;
    this.loops = this.tasks.map(
      ({ everyMs, run }) =>
        new Loop({
          step: async (stop) => {
            await run(stop);
            return everyMs;
          },
          onError: (error, failures) => {
            if (failures === 1) this.logger.warn(`${this.options.failure}: ${errorText(error)}`);
            return everyMs;
          },
        }),
    );
    for (const loop of this.loops) loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop(this.options.stopWithinMs)));
  }
}
