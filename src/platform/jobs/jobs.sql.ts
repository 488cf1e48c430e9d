import type { Sql, Statement } from '../database/database.js';

// graphile-worker 0.17.3 keeps its rows in `_private_jobs`. Adding a job goes through its public function; what follows has no
// public function and is tied to this version, which package.json pins.

const ADD: Statement = {
  name: 'jobs.add',
  text: `
    SELECT id FROM graphile_worker.add_job(
      identifier => $1, payload => $2::json, job_key => $3, max_attempts => $4,
      run_at => coalesce($5, clock_timestamp() + $6 * interval '1 millisecond')
    )`,
};

export interface JobOptions {
  /** At most one waiting job per key: a later one replaces it. One that is running goes on, and the new one runs beside it. */
  readonly jobKey?: string;
  /** When it is due; at once by default. */
  readonly runAt?: Date;
  /** The same as a distance from now, by the clock of the database. */
  readonly delayMs?: number;
  /** 25 by default, with waits that grow from 3 seconds to 6 hours: about three days. */
  readonly maxAttempts?: number;
}

/** Adds a job; it exists if and only if the transaction of `sql` commits. The payload must hold no secret: it is stored as it is. */
export async function addJob(
  sql: Sql,
  task: string,
  payload: object,
  options: JobOptions = {},
): Promise<void> {
  const { jobKey = null, maxAttempts = null, runAt = null, delayMs = 0 } = options;
  await sql.query(ADD, [task, JSON.stringify(payload), jobKey, maxAttempts, runAt, delayMs]);
}

const KEEP: Statement = {
  name: 'jobs.keep',
  text: 'UPDATE graphile_worker._private_jobs SET locked_at = clock_timestamp() WHERE locked_by = $1',
};

/** Says that the worker is alive: its jobs stay its own. */
export async function keepJobs(sql: Sql, worker: string): Promise<void> {
  await sql.query(KEEP, [worker]);
}

// A job whose last attempt was taken back has nobody left to run it; one without an error is what a worker left that died
// between giving up the key of a finished job and deleting its row.
const RELEASE_LAPSED: Statement = {
  name: 'jobs.release-lapsed',
  text: `
    WITH lapsed AS MATERIALIZED (
      SELECT id, attempts >= max_attempts AND key IS NULL AND last_error IS NULL AS finished
      FROM graphile_worker._private_jobs
      WHERE locked_at < clock_timestamp() - $1 * interval '1 millisecond'
      FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM graphile_worker._private_jobs AS job USING lapsed WHERE job.id = lapsed.id AND lapsed.finished
    )
    UPDATE graphile_worker._private_jobs AS job SET locked_at = NULL, locked_by = NULL
    FROM lapsed WHERE job.id = lapsed.id AND NOT lapsed.finished
    RETURNING job.id`,
};

/** Takes the jobs of workers that have not been heard of for `leaseMs` from them; answers how many. */
export async function releaseLapsedJobs(sql: Sql, leaseMs: number): Promise<number> {
  return (await sql.query(RELEASE_LAPSED, [leaseMs])).length;
}

const GIVE_BACK = `
  UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, attempts = greatest(attempts - 1, 0)
  WHERE locked_by = $1`;

/** What a worker was doing when it stopped can be taken up by another at once, and was no attempt. */
export async function giveBackJobs(sql: Sql, worker: string): Promise<void> {
  await sql.query(GIVE_BACK, [worker]);
}

export async function giveBackJob(sql: Sql, worker: string, id: string): Promise<void> {
  await sql.query(`${GIVE_BACK} AND id = $2`, [worker, id]);
}

const IS_HELD: Statement = {
  name: 'jobs.is-held',
  text: 'SELECT FROM graphile_worker._private_jobs WHERE id = $1 AND locked_by = $2',
};

export async function isHeld(sql: Sql, worker: string, id: string): Promise<boolean> {
  return (await sql.query(IS_HELD, [id, worker])).length === 1;
}

const HOLD: Statement = { name: 'jobs.hold', text: `${IS_HELD.text} FOR UPDATE` };

/** Locks the job's row: whoever adds a job of the same key waits for the end of this transaction. False when it is another's. */
export async function holdJob(tx: Sql, worker: string, id: string): Promise<boolean> {
  return (await tx.query(HOLD, [id, worker])).length === 1;
}

const GIVE_UP_KEY: Statement = {
  name: 'jobs.give-up-key',
  text: 'UPDATE graphile_worker._private_jobs SET key = NULL, attempts = max_attempts WHERE id = $1',
};

/** From here on, a job added with the key is a new one. */
export async function giveUpKey(tx: Sql, id: string): Promise<void> {
  await tx.query(GIVE_UP_KEY, [id]);
}

const RESTART_BACKOFF =
  'UPDATE graphile_worker._private_jobs SET attempts = 1 WHERE id = $1 AND locked_by = $2';

export async function restartBackoff(sql: Sql, worker: string, id: string): Promise<void> {
  await sql.query(RESTART_BACKOFF, [id, worker]);
}
