import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../platform/async/background-tasks.js';
import { Environment } from '../platform/env/environment.js';
import { STOP_WITHIN_MS } from '../platform/shutdown/limits.js';
import { StallsStore } from './stalls.store.js';

/** A stall is found at most 2 s late: this pause, and a batch. */
const EVERY_MS = 1_000;
/** The subjects of one transaction: few, since a change of one of them waits for its end. */
const AT_ONCE = 200;

/**
 * Looks at every subject whose time has come. A subject is due after each change and when its rule says so (`stall_looks`), and is looked at
 * by one process at a time. Whoever stops in between leaves the subjects due.
 */
@Injectable()
export class StallTask extends BackgroundTasks {
  protected readonly tasks = [{ everyMs: EVERY_MS, run: (stop: AbortSignal) => this.run(stop) }];
  private hasWritten = false;

  constructor(
    private readonly store: StallsStore,
    { ROLE }: Environment,
  ) {
    super('stalls could not be found', STOP_WITHIN_MS.stalls, ROLE !== 'api');
  }

  /** Looks at all due subjects. */
  async run(stop?: AbortSignal): Promise<void> {
    if (!this.hasWritten) await this.store.writeCauses();
    this.hasWritten = true;
    if (!(await this.store.isAnyDue())) return;
    while (stop?.aborted !== true && (await this.store.lookAtDue(AT_ONCE)) === AT_ONCE);
  }
}
