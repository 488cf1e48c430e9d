import type { Sql, Statement } from '../database/database.js';

// Jobs are added with graphile-worker's public function `add_job`, in the statement that writes the data they work on. The statements here
// have no public function: they depend on the tables of graphile-worker 0.17.3, which package.json pins.

// A locked job is being completed at this moment. Waiting for it could deadlock with a statement that completes several jobs and waits for
// one of those locked here. The victim may be graphile-worker, which then stops.
const KEEP: Statement = {
  name: 'jobs.keep',
  text: `
    WITH own AS MATERIALIZED (
      SELECT id FROM graphile_worker._private_jobs WHERE locked_by = $1 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE graphile_worker._private_jobs AS job SET locked_at = clock_timestamp() FROM own WHERE job.id = own.id`,
};

/** Renews the leases of the worker's jobs. */
export async function keepJobs(sql: Sql, worker: string): Promise<void> {
  await sql.query(KEEP, [worker]);
}

// A job without key, error and attempts left is complete: its worker died between giving up the key and deleting the row.
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

/** Releases the jobs of workers that have not renewed their lease for `leaseMs`; returns how many. */
export async function releaseLapsedJobs(sql: Sql, leaseMs: number): Promise<number> {
  return (await sql.query(RELEASE_LAPSED, [leaseMs])).length;
}

const GIVE_BACK = `
  UPDATE graphile_worker._private_jobs
  SET locked_at = NULL, locked_by = NULL, attempts = greatest(attempts - 1, 0), run_at = least(run_at, clock_timestamp())
  WHERE locked_by = $1 OR (locked_by IS NULL AND id = ANY ($2::bigint[]))`;

/** Releases the jobs that a stopped worker still has and those it broke off. They are due at once, and the attempt does not count. */
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

/** Locks the job's row: adding a job with the same key waits until this transaction ends. Returns false if another worker has the job. */
export async function holdJob(tx: Sql, worker: string, id: string): Promise<boolean> {
  return (await tx.query(HOLD, [id, worker])).length === 1;
}

const GIVE_UP_KEY: Statement = {
  name: 'jobs.give-up-key',
  text: 'UPDATE graphile_worker._private_jobs SET key = NULL, attempts = max_attempts, last_error = NULL WHERE id = $1',
};

/** Removes the job's key, so that a job added with it is a new one. */
export async function giveUpKey(tx: Sql, id: string): Promise<void> {
  await tx.query(GIVE_UP_KEY, [id]);
}

const RESTART_BACKOFF =
  'UPDATE graphile_worker._private_jobs SET attempts = 1 WHERE id = $1 AND locked_by = $2';

export async function restartBackoff(sql: Sql, worker: string, id: string): Promise<void> {
  await sql.query(RESTART_BACKOFF, [id, worker]);
}

// Wakes a worker, as `add_job` does; otherwise the job would wait for the next poll.
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

/** Moves a waiting job to an earlier time. A job that is running, or due earlier, does not change. */
export async function hastenJob(tx: Sql, key: string, runAt: Date): Promise<void> {
  await tx.query(HASTEN, [key, runAt]);
}
