import { Injectable, Logger } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { Database } from '../../platform/database/database.js';
import { isRefusal } from '../../platform/database/refused-rows.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import * as sql from './retention.sql.js';

/** Rows per statement: few, so that locks are short and the deletes do not delay other statements. */
const BATCH = 1_000;

/** The statement of each kind and the variable with its days, in their order. */
const KINDS = {
  sessions: [sql.PRUNE_SESSIONS, 'RETENTION_SESSIONS_DAYS'],
  observations: [sql.PRUNE_OBSERVATIONS, 'RETENTION_OBSERVATIONS_DAYS'],
  deliveries: [sql.PRUNE_DELIVERIES, 'RETENTION_DELIVERIES_DAYS'],
  bulkActions: [sql.PRUNE_BULK_ACTIONS, 'RETENTION_DELIVERIES_DAYS'],
  events: [sql.PRUNE_EVENTS, 'RETENTION_EVENTS_DAYS'],
  // Runs after the events, since a registration is kept while events about it are stored.
  registrations: [sql.PRUNE_REGISTRATIONS, 'RETENTION_REGISTRATIONS_DAYS'],
  starts: [sql.PRUNE_STARTS, 'RETENTION_STARTS_DAYS'],
  audit: [sql.PRUNE_AUDIT, 'RETENTION_AUDIT_DAYS'],
  campaignRows: [sql.CLEAR_CAMPAIGNS, 'CAMPAIGN_ROWS_DAYS'],
  forgottenSessions: [sql.FORGET_SESSIONS, 'RETENTION_EVENTS_DAYS'],
} as const;

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

  /** Returns the number of deleted rows of each kind, and of emptied rows of campaigns. A kind of which PostgreSQL refuses a row stops no other. */
  async prune() {
    const pruned: Record<string, number> = {};
    for (const [kind, [statement, variable]] of Object.entries(KINDS)) {
      try {
        pruned[kind] = await this.pruneAll(statement, this.environment[variable]);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        this.logger.error(
          `retention of ${kind} ended early: PostgreSQL refuses to delete a row: ${errorText(error)}`,
        );
      }
    }
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
