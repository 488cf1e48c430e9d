import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { within } from '../async/within.js';
import { Database } from '../database/database.js';
import { sqlState } from '../database/sql-state.js';
import { findMissingMigrations, proveWritable } from '../database/migrations/records.js';
import { findTableLocks } from '../database/table-locks.js';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';
import { errorText } from '../redaction/error-text.js';

/** The timeout of the check: less than the usual timeout of a health probe, 1 s. */
const PROBE_MS = 900;
const READ_ONLY = '25006';

/** Decides whether requests should be sent to this process. */
@Injectable()
export class Readiness implements OnModuleDestroy {
  private readonly logger = new Logger(Readiness.name);
  private draining = false;
  private check: Promise<string[]> | undefined;
  /** Problems that do not make this process unready, because every other replica has them too. Found by the last check. */
  warnings: string[] = [];

  constructor(private readonly database: Database) {}

  /** Makes this process unready until it ends. */
  drain(): void {
    this.draining = true;
  }

  // This is Nest's first shutdown hook, so that load balancers stop sending requests while those in flight complete.
  onModuleDestroy(): void {
    this.drain();
  }

  /** Returns why the service is not ready, in words; an empty list if it is ready. */
  async missing(): Promise<string[]> {
    if (this.draining) return ['the service is stopping'];
    // Runs one check at a time, so that checks of a database that does not respond cannot use up its connections.
    this.check ??= this.missingOfDatabase().finally(() => (this.check = undefined));
    return within(PROBE_MS, this.check, () => [`the database has not responded within ${PROBE_MS} ms`]);
  }

  private async missingOfDatabase(): Promise<string[]> {
    if (this.database.hasNoSpace()) return ['the database has no space left'];
    const noted = this.noteLocks();
    try {
      const missing = await findMissingMigrations(this.database);
      if (missing === null) return ['no migration is applied'];
      if (missing.length === 0) await proveWritable(this.database);
      await noted;
      return missing.map((name) => `the migration ${name} is not applied`);
    } catch (error) {
      if (sqlState(error) === READ_ONLY) return ['the database is read-only'];
      if (isDatabaseUnavailable(error)) return ['the database cannot be reached'];
      this.logger.warn(`readiness could not be checked: ${errorText(error)}`);
      return ['the database refuses the check'];
    }
  }

  // The warning names no table and no process: anybody who reaches the port sees it.
  private async noteLocks(): Promise<void> {
    const locks = await findTableLocks(this.database).catch(() => []);
    this.warnings =
      locks.length === 0 ? [] : ['tables are locked against writing: see tableLocks of /status'];
  }
}
