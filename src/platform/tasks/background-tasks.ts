import { Inject, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from '../async/backoff.rules.js';
import { Loop } from '../async/loop.js';
import { WakeUp } from '../async/wake-up.js';
import type { LeasedWork } from '../database/leased-work.js';
import { errorText } from '../redaction/error-text.js';
import { stopsWithin } from '../shutdown/limits.js';
import type { BackgroundTask } from './task.js';
import { Tasks } from './tasks.service.js';

/** The longest delay of setTimeout. */
const UNTIL_WOKEN_MS = 2 ** 31 - 1;

/** Declares a task. The table `tasks` lists all of them. */
export const task = (declared: BackgroundTask): BackgroundTask => declared;

/** Repeats tasks from the start of the process to its shutdown. Each task has its own loop, so that a slow task does not delay another. */
export abstract class BackgroundTasks
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  protected readonly logger = new Logger(this.constructor.name);
  protected abstract readonly tasks: readonly BackgroundTask[];
  /** What the tasks begin. A shutdown waits for it, too. */
  protected readonly work?: LeasedWork;
  // A property, so that no subclass has to pass it on.
  @Inject(Tasks) private readonly all!: Tasks;
  private loops: readonly Loop[] = [];

  /** Logs `failure` at the first of several consecutive failures of a task. `isActive`: whether this process runs the tasks. */
  protected constructor(
    private readonly failure: string,
    private readonly isActive = true,
    private readonly stopWithinMs = stopsWithin(500),
  ) {}

  onApplicationBootstrap(): void {
    if (!this.isActive) return;
    this.loops = this.tasks.map((task) => this.loopOf(task));
    for (const loop of this.loops) loop.start();
  }

  // Does not wait, so that the tasks of all modules stop at the same time.
  onModuleDestroy(): void {
    for (const loop of this.loops) void loop.stop();
  }

  // Waits in this hook, because the next hook closes the database.
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop(this.stopWithinMs)));
    await this.work?.end(this.stopWithinMs);
  }

  private loopOf({ everyMs, backoff, wakeUp, ...task }: BackgroundTask): Loop {
    const wakes = new WakeUp();
    const wake = () => wakes.signal();
    wakeUp?.onSignal(wake);
    const { due, run, askEveryMs = everyMs } = this.all.add({ everyMs, ...task });
    let endWait = (): void => {};
    return new Loop({
      step: async (stop) => {
        endWait();
        const pauseMs = (await run(stop)) ?? askEveryMs;
        if (due === undefined || pauseMs === 0 || stop.aborted) return pauseMs;
        endWait = this.all.due.wait(due, pauseMs, wake);
        return UNTIL_WOKEN_MS;
      },
      onError: (error, failures) => {
        if (failures === 1) this.logger.warn(`${this.failure}: ${errorText(error)}`);
        return backoff ? backoffMs(backoff, failures) : askEveryMs;
      },
      wakeUp: wakes,
      onPause: (timer) => this.all.showTimer(task.name, timer),
    });
  }
}
