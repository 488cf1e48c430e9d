import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { NEVER } from '../../platform/database/lease.js';
import { isRefusal } from '../../platform/database/refused-rows.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { BackgroundTasks, task } from '../../platform/tasks/background-tasks.js';
import * as sql from './retention.sql.js';

const STOP_WITHIN_MS = stopsWithin(1_000);
/** Rows per statement: few, so that locks are short and the deletes do not delay other statements. */
const BATCH = 1_000;
/** If PostgreSQL refuses to delete more rows of a kind than this, the fault is probably that of the table. */
const MOST_REFUSED = 50;

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
      everyMs: 3_600_000,
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
      environment.ROLE !== 'api',
      STOP_WITHIN_MS,
    );
  }

  private async pruneAndLog(stop: AbortSignal): Promise<void> {
    const pruned = await this.prune(stop);
    if (Object.values(pruned).some((count) => count > 0))
      this.logger.log(`deleted by retention: ${JSON.stringify(pruned)}`);
  }

  /** Returns the number of deleted rows of each kind, and of emptied rows of campaigns. */
  async prune(stop = NEVER, batch = BATCH) {
    const pruned: Record<string, number> = {};
    for (const [kind, [statement, variable]] of Object.entries(KINDS))
      pruned[kind] = await this.pruneAll(kind, statement, this.environment[variable], batch, stop);
    return pruned;
  }

  /**
   * Repeats the statement until no old rows are left, or `stop` aborts. Returns the number of deleted rows. If `days` is 0, deletes nothing.
   * If PostgreSQL refuses a row, halves the batch until the row is alone, and leaves it out.
   */
  private async pruneAll(kind: string, statement: string, days: number, batch: number, stop: AbortSignal) {
    let [pruned, size, leftOut, refused] = [0, batch, 0, 0];
    for (let at: string | null = '0'; days > 0 && at !== null && refused < MOST_REFUSED && !stop.aborted;) {
      try {
        const parameters: unknown[] = [days, size, at, leftOut];
        // Uses a transaction, because PostgreSQL reports the error of a single statement before it unlocks the rows.
        const [step]: Step[] = await this.database.transaction((tx) => tx.query<Step>(statement, parameters));
        const { next } = step!;
        pruned += step!.pruned;
        // A cursor that has moved is beyond the rows that were left out.
        if (next !== at) leftOut = 0;
        at = next;
        size = Math.min(batch, size * 2);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        if (size === 1) {
          leftOut++;
          if (refused++ === 0)
            this.logger.error(`retention leaves out ${kind} that PostgreSQL refuses: ${errorText(error)}`);
        }
        size = Math.ceil(size / 2);
      }
    }
    return pruned;
  }
}
