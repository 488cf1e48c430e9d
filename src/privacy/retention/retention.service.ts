import { Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Database } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import * as sql from './retention.sql.js';

/** Rows per statement: few, so that locks are short and the deletes do not delay other statements. */
const BATCH = 1_000;

interface Step {
  readonly pruned: number;
  readonly next: string | null;
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
      this.logger.warn(`retention ended early; what it had deleted stays deleted: ${errorText(error)}`);
    }
  }

  /** Returns the number of deleted rows of each kind, and of emptied rows of campaigns. */
  async prune() {
    const { environment } = this;
    const pruned = {
      sessions: await this.pruneAll(sql.PRUNE_SESSIONS, environment.RETENTION_SESSIONS_DAYS),
      observations: await this.pruneAll(sql.PRUNE_OBSERVATIONS, environment.RETENTION_OBSERVATIONS_DAYS),
      deliveries: await this.pruneAll(sql.PRUNE_DELIVERIES, environment.RETENTION_DELIVERIES_DAYS),
      events: await this.pruneAll(sql.PRUNE_EVENTS, environment.RETENTION_EVENTS_DAYS),
      // Runs after the events, since a registration is kept while events about it are stored.
      registrations: await this.pruneAll(sql.PRUNE_REGISTRATIONS, environment.RETENTION_REGISTRATIONS_DAYS),
      starts: await this.pruneAll(sql.PRUNE_STARTS, environment.RETENTION_STARTS_DAYS),
      audit: await this.pruneAll(sql.PRUNE_AUDIT, environment.RETENTION_AUDIT_DAYS),
      campaignRows: await this.pruneAll(sql.CLEAR_CAMPAIGNS, environment.CAMPAIGN_ROWS_DAYS),
    };
    await this.pruneAll(sql.FORGET_SESSIONS, environment.RETENTION_EVENTS_DAYS);
    return pruned;
  }

  /** Repeats the statement until no old rows are left. Returns the number of deleted rows. If `days` is 0, deletes nothing. */
  private async pruneAll(statement: string, days: number): Promise<number> {
    let pruned = 0;
    for (let next: string | null = '0'; days > 0 && next !== null;) {
      const [step]: Step[] = await this.database.query<Step>(statement, [days, BATCH, next]);
      pruned += step!.pruned;
      ({ next } = step!);
    }
    return pruned;
  }
}
