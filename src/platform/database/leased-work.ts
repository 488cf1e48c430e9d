import type { Logger } from '@nestjs/common';
import { within } from '../async/within.js';
import { errorText } from '../redaction/error-text.js';
import type { Database } from './database.js';
import { Leases, type Lease, type LeaseOptions } from './lease.js';
import type { LeaseStatements } from './lease.sql.js';

interface WorkOptions extends LeaseOptions {
  /** The most rows on which this process works at once. Default: no limit. */
  readonly mostAtOnce?: number;
  /** What the log says when the work on a row fails, and the name of the field with the row's id. */
  readonly failure: string;
  readonly idField: string;
}

/** Works on several rows of one table at once, on each under its lease. A failure on a row delays no other. */
export class LeasedWork {
  private readonly leases: Leases;
  /** The work that is running, by the id of its row. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    database: Database,
    statements: LeaseStatements,
    private readonly options: WorkOptions,
    private readonly logger: Logger,
  ) {
    this.leases = new Leases(database, statements, options);
  }

  /** Begins the work on a row, as `runUnderLease` does, unless this process works on it already or on as many as it may. */
  begin(id: string, stop: AbortSignal, work: (lease: Lease) => Promise<number>): void {
    const { mostAtOnce = Infinity } = this.options;
    if (this.running.has(id) || this.running.size >= mostAtOnce) return;
    this.running.set(
      id,
      this.run(id, stop, work).finally(() => this.running.delete(id)),
    );
  }

  /** Waits until no work runs, at most for this time. */
  async end(withinMs: number): Promise<void> {
    await within(withinMs, Promise.all(this.running.values()));
  }

  private async run(id: string, stop: AbortSignal, work: (lease: Lease) => Promise<number>): Promise<void> {
    try {
      await this.leases.runUnderLease(id, stop, work);
    } catch (error) {
      const { failure, idField } = this.options;
      if (!stop.aborted) this.logger.warn({ message: `${failure}: ${errorText(error)}`, [idField]: id });
    }
  }
}
