import { Injectable } from '@nestjs/common';
import { BackgroundTasks, task } from '../../platform/tasks/background-tasks.js';
import { Database } from '../../platform/database/database.js';
import { findTableLocks } from '../../platform/database/table-locks.js';
import { hasBegun } from '../replicas.rules.js';
import { StatusService } from '../status.service.js';
import { sampleOf } from './sampled-figures.js';
import { DUE_SAMPLE, isSampleDue, writeOutage, writeSample } from './samples.store.js';

/** The pause between two samples: less than a minute, so that every minute has a sample. */
const EVERY_MS = 20_000;

/** Writes the samples of the status. Runs whatever the role of the process, so that the history also shows when no worker ran. */
@Injectable()
export class Sampler extends BackgroundTasks {
  protected readonly tasks = [
    task({ name: 'status.sample', everyMs: EVERY_MS, due: DUE_SAMPLE, run: () => this.sampleIfDue() }),
  ];
  /** The attempts in a row that could not read the status. `since`: the first of them, by performance.now(). */
  private unread = { attempts: 0, since: 0 };

  constructor(
    private readonly status: StatusService,
    private readonly database: Database,
  ) {
    super('the status could not be sampled');
  }

  async sampleIfDue(): Promise<void> {
    try {
      await this.sample();
    } catch (error) {
      const { attempts, since } = this.unread;
      this.unread = { attempts: attempts + 1, since: attempts === 0 ? performance.now() : since };
      await this.sampleLocks();
      throw error;
    }
  }

  private async sample(): Promise<void> {
    if (!(await isSampleDue(this.database))) return;
    const { reasons, facts } = await this.status.read();
    // This process has not given its first sign of life yet, so the sample would wrongly record that no process is alive.
    if (!facts.replicas.some(({ isAlive }) => isAlive) || !hasBegun(facts.replicas)) return;
    await writeSample(this.database, reasons, sampleOf(facts));
    const { attempts, since } = this.unread;
    this.unread = { attempts: 0, since: 0 };
    // A single failed attempt proves nothing about the database.
    if (attempts > 1) await writeOutage(this.database, 'database_unavailable', performance.now() - since);
  }

  /** Records that the figures wait for locks, which the status itself cannot say: it waits for them, too. */
  private async sampleLocks(): Promise<void> {
    const locks = await findTableLocks(this.database).catch(() => []);
    if (locks.length > 0) await writeSample(this.database, [{ code: 'tables_locked', since: null }], {});
  }
}
