import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Loop } from '../async/loop.js';
import { WakeUp } from '../async/wake-up.js';
import { errorText } from '../redaction/error-text.js';
import type { BackgroundTask } from './task.js';
import { DueWork } from './due-work.js';
import { isDue, TasksStore, type RecordedTask } from './tasks.store.js';

const RECORD_EVERY_MS = 60_000;
const RECORDING = { name: 'tasks.record', once: 'process', everyMs: RECORD_EVERY_MS } as const;
/** How often to ask whether a task of the deployment is due: soon, since the question costs little beside those of the other tasks. */
const ASK_EVERY_MS = 5_000;

/** A task as this process repeats it. `askEveryMs`: the pause, unless a run returns another one. */
interface Repeated extends Pick<BackgroundTask, 'due' | 'run'> {
  readonly askEveryMs?: number;
}

/** All tasks of this process. Writes to the table `tasks` which there are, and when those of the process last ran. */
@Injectable()
export class Tasks implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Tasks.name);
  private readonly list = new Map<string, RecordedTask>();
  private readonly added = new WakeUp();
  private readonly recording = new Loop({
    step: async () => {
      this.list.set(RECORDING.name, { ...RECORDING, startedAt: performance.now() });
      await this.store.record([...this.list.values()]);
      return RECORD_EVERY_MS;
    },
    onError: (error, failures) => {
      if (failures === 1) this.logger.warn(`the runs of tasks could not be recorded: ${errorText(error)}`);
      return RECORD_EVERY_MS;
    },
    wakeUp: this.added,
    onPause: (timer) => this.showTimer(RECORDING.name, timer),
  });

  constructor(
    readonly due: DueWork,
    private readonly store: TasksStore,
    private readonly registry: SchedulerRegistry,
  ) {}

  onApplicationBootstrap(): void {
    this.recording.start();
  }

  // Does not wait: what it writes is for the eye alone.
  onModuleDestroy(): void {
    void this.recording.stop();
  }

  add(task: BackgroundTask): Repeated {
    const { name, everyMs, once = 'process' } = task;
    if (this.list.has(name)) throw new Error(`two tasks are called ${name}`);
    const recorded: RecordedTask = { name, once, everyMs: Math.round(everyMs), startedAt: null };
    this.list.set(name, recorded);
    this.added.signal();
    const repeated = once === 'process' ? this.inProcess(task, recorded) : this.inDeployment(task, recorded);
    if (repeated.due !== undefined) this.due.declare(repeated.due);
    return repeated;
  }

  /** Makes the SchedulerRegistry of Nest list the pause of a task under its name. While the task runs, its last pause is listed. */
  showTimer(name: string, timer: NodeJS.Timeout): void {
    if (this.registry.doesExist('timeout', name)) this.registry.deleteTimeout(name);
    this.registry.addTimeout(name, timer);
  }

  private inProcess({ due, run }: BackgroundTask, recorded: RecordedTask): Repeated {
    return {
      due,
      run: (stop) => {
        this.list.set(recorded.name, { ...recorded, startedAt: performance.now() });
        return run(stop);
      },
    };
  }

  /** Begins with the question whether it is due, since its row may be missing until the list has been recorded. */
  private inDeployment({ due = 'SELECT', run }: BackgroundTask, recorded: RecordedTask): Repeated {
    let isFirst = true;
    return {
      due: `${isDue(recorded.name)} AND EXISTS (${due})`,
      askEveryMs: Math.min(recorded.everyMs, ASK_EVERY_MS),
      run: async (stop) => {
        if (!isFirst) await this.store.runOnce(recorded, stop, run);
        isFirst = false;
      },
    };
  }
}
