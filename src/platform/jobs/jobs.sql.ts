import type { Statement } from '../database/database.js';

// graphile-worker has no public function for these statements: they depend on its tables in version 0.17.3, which package.json pins. Jobs
// are added by its public `add_job`, in the statement that writes the data of the job.

/**
 * Renews the leases of a worker's jobs. Skips locked rows: their jobs are just being completed. Waiting for a row could deadlock with a
 * statement that completes several jobs, and a deadlock error can stop graphile-worker.
 */
export const RENEW_JOBS: Statement = {
  name: 'jobs.renew_locks',
  text: `
    WITH own AS MATERIALIZED (
      SELECT id FROM graphile_worker._private_jobs WHERE locked_by = $1 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE graphile_worker._private_jobs AS job SET locked_at = clock_timestamp() FROM own WHERE job.id = own.id`,
};

/**
 * Releases the jobs of workers that have not renewed their lease for $1 ms. A job with no key, no error and no attempts left is complete:
 * its worker died between removing the key and deleting the row.
 */
export const RELEASE_LAPSED: Statement = {
  name: 'jobs.release_lapsed_jobs',
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

/** Releases the jobs that a stopped worker ($1) still has, and those that it interrupted ($2). Their current attempt does not count. */
export const RELEASE_JOBS = `
  UPDATE graphile_worker._private_jobs
  SET locked_at = NULL, locked_by = NULL, attempts = greatest(attempts - 1, 0), run_at = least(run_at, clock_timestamp())
  WHERE locked_by = $1 OR (locked_by IS NULL AND id = ANY ($2::bigint[]))`;

export const FIND_OWN: Statement = {
  name: 'jobs.find_own_job',
  text: 'SELECT FROM graphile_worker._private_jobs WHERE id = $1 AND locked_by = $2',
};

/** Locks the job's row, so that adding a job with the same key waits until this transaction ends. */
export const LOCK_JOB: Statement = { name: 'jobs.lock_job', text: `${FIND_OWN.text} FOR UPDATE` };

/** Removes the job's key, so that adding a job with the same key inserts a new job. */
export const REMOVE_KEY: Statement = {
  name: 'jobs.remove_key',
  text: 'UPDATE graphile_worker._private_jobs SET key = NULL, attempts = max_attempts, last_error = NULL WHERE id = $1',
};

export const RESTART_BACKOFF =
  'UPDATE graphile_worker._private_jobs SET attempts = 1 WHERE id = $1 AND locked_by = $2';

/**
 * Moves a waiting job with key $1 to the time $2, if that is earlier. Wakes a worker, as `add_job` does; otherwise the job would wait for
 * the next poll.
 */
export const MOVE_EARLIER: Statement = {
  name: 'jobs.move_job_earlier',
  text: `
    WITH hastened AS (
      UPDATE graphile_worker._private_jobs SET run_at = $2
      WHERE key = $1 AND locked_at IS NULL AND run_at > $2
      RETURNING id
    )
    SELECT pg_notify('jobs:insert', json_build_object('r', random(), 'count', 1)::text) FROM hastened`,
};
