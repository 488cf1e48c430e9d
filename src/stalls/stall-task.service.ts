import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../platform/tasks/background-tasks.js';
import { Environment } from '../platform/env/environment.js';
import { ANY_DUE } from './stalls.sql.js';
import { StallsStore } from './stalls.store.js';

/** A stall is found at most 2 s late: this pause, and a batch. */
const EVERY_MS = 1_000;
/** The subjects of one transaction: few, since a change of one of them waits for its end. */
const AT_ONCE = 200;

/*
 * Stalls: why something does not continue by itself.
 *
 * Each room declares the kinds of its subjects (registration, start, session, invitation, inverter, endpoint): the causes with their
 * remedies, a statement that selects the facts, and a pure rule. The table `stalls` has the result of the rule for every subject that is
 * stalled, and everybody reads it: the API, the console, SQL, metrics, reminders.
 *
 * States of a subject, and who leaves them
 * - nothing is expected: it has no row in `stall_looks`. Only a change of the subject can make it stalled.
 * - waiting (`look_at` in the future): the rule has said when its result may change, for example at the end of a threshold.
 * - due: it has changed, or its time has come. Triggers on the tables of the subjects set `look_at` in the transaction of the change, so no
 *   writer can forget it. A claim of a poll and an unchanged response fire none of them.
 * - locked: one process looks at it. It reads the facts, runs the rule, and writes the difference, its event and the next `look_at` in one
 *   transaction. A change of a locked subject waits for the end, and makes it due again.
 * A stall keeps its `raised_at` while its cause stays. Another cause is raised by an event of its own, and the earlier one is not cleared
 * before. A change of the evidence alone writes the row, and is not an event.
 *
 * What is not a stall: trouble of the deployment (no worker, an outage). It is a reason of GET /status. A rule that depends on it, such as
 * `remote_unreachable`, looks again for as long as it lasts.
 *
 * What a crash leaves
 * - Before the commit: the subject is due, and any worker looks at it.
 * - After the commit: the stall and its event. Nothing is in between.
 * Several workers share the due subjects by SKIP LOCKED, so a stall is raised once.
 *
 * A request whose response has the stall of what it has changed does not wait for this task: it looks itself (`lookNow`).
 *
 * At night: `GET /stalled/groups` counts by cause, `admin.stalled` has each with its sentence. If `stall_looks` has many rows that are long
 * due, no worker runs, or the statements of this task fail ("stalls could not be found" in the log).
 */

/** Looks at every subject that is due. */
@Injectable()
export class StallTask extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'stalls.look',
      everyMs: EVERY_MS,
      due: ANY_DUE,
      run: (stop: AbortSignal) => this.run(stop),
    }),
  ];

  constructor(
    private readonly store: StallsStore,
    { ROLE }: Environment,
  ) {
    super('stalls could not be found', ROLE !== 'api');
  }

  async run(stop?: AbortSignal): Promise<void> {
    await this.store.writeCauses();
    while (stop?.aborted !== true && (await this.store.lookAtDue(AT_ONCE)) === AT_ONCE);
    await this.store.mergeCounts();
  }
}
