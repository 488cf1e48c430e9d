import { Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { errorText } from '../platform/redaction/error-text.js';
import * as sql from './retention.sql.js';

/** Rows per statement: few, so that locks are short and the deletes do not delay other statements. */
const BATCH = 1_000;

interface Page {
  /** The last row that was read; null at the end of the table. */
  readonly last: string | null;
  readonly isOld: boolean | null;
  readonly pruned: number;
}

@Injectable()
export class Retention {
  private readonly logger = new Logger(Retention.name);

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  @Cron(CronExpression.EVERY_HOUR, { waitForCompletion: true })
  async pruneHourly(): Promise<void> {
    if (this.environment.ROLE === 'api') return;
    try {
      const pruned = await this.prune();
      if (Object.values(pruned).some((count) => count > 0))
        this.logger.log(`deleted by retention: ${JSON.stringify(pruned)}`);
    } catch (error) {
      this.logger.warn(`history could not be deleted: ${errorText(error)}`);
    }
  }

  /** Returns the number of deleted rows of each kind. */
  async prune() {
    const { environment } = this;
    return {
      sessions: await this.inBatches(sql.PRUNE_SESSIONS, environment.RETENTION_SESSIONS_DAYS),
      observations: await this.inPages(sql.PRUNE_OBSERVATIONS, environment.RETENTION_OBSERVATIONS_DAYS),
      deliveries: await this.inBatches(sql.PRUNE_DELIVERIES, environment.RETENTION_DELIVERIES_DAYS),
      events: await this.inPages(sql.PRUNE_EVENTS, environment.RETENTION_EVENTS_DAYS),
    };
  }

  /** Repeats the statement until it deletes fewer rows than BATCH. Returns the number of deleted rows. If `days` is 0, deletes nothing. */
  private async inBatches(statement: string, days: number): Promise<number> {
    for (let pruned = 0, last = BATCH; ; pruned += last) {
      if (days === 0 || last < BATCH) return pruned;
      last = (await this.database.query(statement, [days, BATCH])).length;
    }
  }

  /** Repeats the statement page by page until a page contains no old row. */
  private async inPages(statement: string, days: number): Promise<number> {
    let pruned = 0;
    for (let after: string | null = '0'; days > 0 && after !== null;) {
      const [page]: Page[] = await this.database.query<Page>(statement, [days, BATCH, after]);
      pruned += page!.pruned;
      after = page!.isOld === true ? page!.last : null;
    }
    return pruned;
  }
}
