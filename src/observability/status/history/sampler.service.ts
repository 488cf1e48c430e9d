import { Injectable } from '@nestjs/common';
import { BackgroundTasks } from '../../../platform/async/background-tasks.js';
import { Database } from '../../../platform/database/database.js';
import { STOP_WITHIN_MS } from '../../../platform/shutdown/limits.js';
import { StatusService } from '../status.service.js';
import { sampleOf } from './sampled-figures.js';
import { isSampleDue, writeSample } from './samples.store.js';

/** The pause between two samples: less than a minute, so that every minute has a sample. */
const EVERY_MS = 20_000;

/** Writes the samples of the status. Runs whatever the role of the process, so that the history also shows when no worker ran. */
@Injectable()
export class Sampler extends BackgroundTasks {
  protected readonly tasks = [{ everyMs: EVERY_MS, run: () => this.sampleIfDue() }];

  constructor(
    private readonly status: StatusService,
    private readonly database: Database,
  ) {
    super('the status could not be sampled', STOP_WITHIN_MS.sampler);
  }

  async sampleIfDue(): Promise<void> {
    if (!(await isSampleDue(this.database))) return;
    const { reasons, ...facts } = await this.status.read();
    // This process has not given its first sign of life yet, so the sample would wrongly record that no process is alive.
    if (!facts.replicas.some(({ isAlive }) => isAlive)) return;
    await writeSample(this.database, reasons, sampleOf(facts));
  }
}
