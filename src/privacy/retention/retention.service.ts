import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { NEVER } from '../../platform/database/lease.js';
import { isRefusal } from '../../platform/database/refused-rows.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { BackgroundTasks } from '../../platform/tasks/background-tasks.js';
import { task } from '../../platform/tasks/task.js';
import * as sql from './retention.sql.js';

const STOP_WITHIN_MS = stopsWithin(1_000);
const PRUNE_EVERY_MS = 3_600_000;
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
export class Retention extends BackgroundTasks {
  protected readonly tasks = [
    task({
      name: 'retention.prune',
      everyMs: PRUNE_EVERY_MS,
      once: 'deployment',
      run: (stop) => this.pruneAndLog(stop),
    }),
  ];

  constructor(
    private readonly database: Database,
    private readonly environment: Environment,
  ) {
    super(
      'retention ended early; what it had deleted stays deleted',
      STOP_WITHIN_MS,
      environment.ROLE !== 'api',
    );
  }

  private async pruneAndLog(stop: AbortSignal): Promise<void> {
    const pruned = await this.prune(stop);
    if (Object.values(pruned).some((count) => count > 0))
      this.logger.log(`deleted by retention: ${JSON.stringify(pruned)}`);
  }

  /** Returns the number of deleted rows of each kind, and of emptied rows of campaigns. A kind of which PostgreSQL refuses a row stops no other. */
  async prune(stop = NEVER, batch = BATCH) {
    const pruned: Record<string, number> = {};
    for (const [kind, [statement, variable]] of Object.entries(KINDS)) {
      try {
        pruned[kind] = await this.pruneAll(statement, this.environment[variable], batch, stop);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        this.logger.error(
          `retention of ${kind} ended early: PostgreSQL refuses to delete a row: ${errorText(error)}`,
        );
      }
    }
    return pruned;
  }

  /** Repeats the statement until no old rows are left, or `stop` aborts. Returns the number of deleted rows. If `days` is 0, deletes nothing. */
  private async pruneAll(statement: string, days: number, batch: number, stop: AbortSignal): Promise<number> {
    let pruned = 0;
    for (let next: string | null = '0'; days > 0 && next !== null && !stop.aborted;) {
      const [step]: Step[] = await this.database.query<Step>(statement, [days, batch, next]);
      pruned += step!.pruned;
      ({ next } = step!);
    }
    return pruned;
  }
}
