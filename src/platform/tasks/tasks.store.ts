import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Leases } from '../database/lease.js';
import { leasesOn } from '../database/lease.sql.js';
import { errorText } from '../redaction/error-text.js';

/** A renewal may take 4 s to fail. */
const LEASE_MS = 30_000;
/** When a task that has failed runs again, unless it is due earlier. */
const BACKOFF = { firstMs: 60_000, mostMs: 3_600_000 };

const TASK_LEASES = leasesOn({
  table: 'tasks',
  key: 'name',
  onClaim: 'started_at = clock_timestamp(), ended_at = NULL, last_error = NULL',
  onRelease: 'ended_at = clock_timestamp()',
});

/** Records the tasks $1. A new one is due after its pause, but within a minute, so that it does not slow down a start. */
const RECORD_TASKS = `
    INSERT INTO tasks (name, once, every_ms, started_at, due_at)
    SELECT name, once, "everyMs", clock_timestamp() - "startedMsAgo" * interval '1 ms', clock_timestamp() + least("everyMs", 60000) * interval '1 ms'
      FROM jsonb_to_recordset($1::jsonb) AS r (name text, once text, "everyMs" bigint, "startedMsAgo" float8)
     ORDER BY name
    ON CONFLICT (name) DO UPDATE
       SET once = excluded.once, every_ms = excluded.every_ms, started_at = greatest(tasks.started_at, excluded.started_at)`;

const RECORD_ERROR = 'UPDATE tasks SET last_error = $3 WHERE name = $1 AND lease_token = $2';

export interface RecordedTask {
  readonly name: string;
  readonly once: 'process' | 'deployment';
  readonly everyMs: number;
  /** When it last ran in this process, by `performance.now()`; null for a task of the deployment, whose claim records it. */
  readonly startedAt: number | null;
}

/** Returns a SELECT that returns a row while no process runs the task and it is due. `name` is a constant. */
export const isDue = (name: string): string =>
  `SELECT FROM tasks WHERE name = '${name}' AND ${TASK_LEASES.isClaimable}`;

/** The table `tasks`: which tasks there are, when each last ran, and the lease of those that run once for the whole deployment. */
@Injectable()
export class TasksStore {
  private readonly leases = new Leases(this.database, TASK_LEASES, { leaseMs: LEASE_MS, backoff: BACKOFF });

  constructor(private readonly database: Database) {}

  async record(tasks: readonly RecordedTask[]): Promise<void> {
    const now = performance.now();
    const runs = tasks.map(({ startedAt, ...each }) => ({
      ...each,
      startedMsAgo: startedAt && now - startedAt,
    }));
    await this.database.query(RECORD_TASKS, [JSON.stringify(runs)]);
  }

  /** Runs the task if it is due and no other process runs it. If the process stops meanwhile, the task is due again at once. */
  async runOnce(
    { name, everyMs }: Pick<RecordedTask, 'name' | 'everyMs'>,
    stop: AbortSignal,
    run: (stop: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    await this.leases.runUnderLease(name, stop, async ({ token, signal }) => {
      try {
        await run(signal);
      } catch (error) {
        await this.database.query(RECORD_ERROR, [name, token, errorText(error)]).catch(() => {});
        throw error;
      }
      return signal.aborted ? 0 : everyMs;
    });
  }
}
