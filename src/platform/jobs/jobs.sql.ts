import type { Sql, Statement } from '../database/database.js';

// Jobs are added by graphile-worker's public function `add_job`, in the statement that writes what they are for. What stands here
// has no public function: it is tied to the tables of graphile-worker 0.17.3, which package.json pins.

// A job that is locked is being finished at this moment. To wait for it could be to wait for a statement that finishes several and waits
// for one of those locked here: a deadlock, whose victim may be graphile-worker, which then stops.
const KEEP: Statement = {
  name: 'jobs.keep',
  text: `
    WITH own AS MATERIALIZED (
      SELECT id FROM graphile_worker._private_jobs WHERE locked_by = $1 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE graphile_worker._private_jobs AS job SET locked_at = clock_timestamp() FROM own WHERE job.id = own.id`,
};

/** Says that the worker is alive: its jobs stay its own. */
export async function keepJobs(sql: Sql, worker: string): Promise<void> {
  await sql.query(KEEP, [worker]);
}

// A job without key, error and attempts left is finished: its worker died between giving up the key and deleting the row.
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
  UPDATE graphile_worker._private_jobs
  SET locked_at = NULL, locked_by = NULL, attempts = greatest(attempts - 1, 0), run_at = least(run_at, clock_timestamp())
  WHERE locked_by = $1 OR (locked_by IS NULL AND id = ANY ($2::bigint[]))`;

/** What a worker that has stopped still holds, and the jobs it broke off, are due at once and were no attempt. */
export async function giveBackJobs(sql: Sql, worker: string, brokenOff: readonly string[]): Promise<void> {
  await sql.query(GIVE_BACK, [worker, brokenOff]);
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
  text: 'UPDATE graphile_worker._private_jobs SET key = NULL, attempts = max_attempts, last_error = NULL WHERE id = $1',
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

// Like `add_job` when it has added one, it wakes a worker, which would otherwise find out when it next looks.
const HASTEN: Statement = {
  name: 'jobs.hasten',
  text: `
    WITH hastened AS (
      UPDATE graphile_worker._private_jobs SET run_at = $2
      WHERE key = $1 AND locked_at IS NULL AND run_at > $2
      RETURNING id
    )
    SELECT pg_notify('jobs:insert', json_build_object('r', random(), 'count', 1)::text) FROM hastened`,
};

/** Brings a job that waits forward; one that is running, or due before, stays as it is. */
export async function hastenJob(tx: Sql, key: string, runAt: Date): Promise<void> {
  await tx.query(HASTEN, [key, runAt]);
}
