import type { Statement } from '../database/database.js';

// graphile-worker has no public function for these statements: they depend on its tables in version 0.17.3, which package.json pins. Jobs
// are added by its public `add_job`, in the statement that writes the data of the job.

/**
 * Renews the leases of those jobs of a worker that it runs ($2). A job that it has claimed without a response does not run. Skips locked rows: their jobs are just being completed. Waiting for a row could deadlock with a
 * statement that completes several jobs, and a deadlock error can stop graphile-worker.
 */
export const RENEW_JOBS = `
  WITH own AS MATERIALIZED (
    SELECT id FROM graphile_worker._private_jobs
    WHERE locked_by = $1 AND id = ANY ($2::bigint[]) FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE graphile_worker._private_jobs AS job SET locked_at = clock_timestamp() FROM own WHERE job.id = own.id`;

/** A job with no key, no error and no attempts left is complete: its worker failed between removing the key and deleting the row. */
const IS_FINISHED = 'attempts >= max_attempts AND key IS NULL AND last_error IS NULL';

/**
 * Releases the jobs of workers that have not renewed their lease for $1 ms, and deletes those that are complete. Releases the jobs of worker
 * $2 that it does not run ($4) after $3 ms: the response to their claim was lost.
 */
export const RELEASE_EXPIRED = `
  WITH expired AS MATERIALIZED (
    SELECT id, ${IS_FINISHED} AS finished
    FROM graphile_worker._private_jobs
    WHERE locked_at < clock_timestamp() - $1 * interval '1 millisecond'
       OR (locked_by = $2 AND locked_at < clock_timestamp() - $3 * interval '1 millisecond' AND id <> ALL ($4::bigint[]))
    FOR UPDATE SKIP LOCKED
  ), deleted AS (
    DELETE FROM graphile_worker._private_jobs AS job USING expired WHERE job.id = expired.id AND expired.finished
  )
  UPDATE graphile_worker._private_jobs AS job SET locked_at = NULL, locked_by = NULL
  FROM expired WHERE job.id = expired.id AND NOT expired.finished
  RETURNING job.id`;

/**
 * Releases the jobs that a stopped worker ($1) still has, and those that it interrupted ($2). Their current attempt does not count. Deletes
 * those that are complete: released, they would run beside the next job with their key.
 */
export const RELEASE_JOBS = `
  WITH deleted AS (
    DELETE FROM graphile_worker._private_jobs WHERE locked_by = $1 AND ${IS_FINISHED}
  )
  UPDATE graphile_worker._private_jobs
  SET locked_at = NULL, locked_by = NULL, attempts = greatest(attempts - 1, 0), run_at = least(run_at, clock_timestamp())
  WHERE (locked_by = $1 AND NOT (${IS_FINISHED})) OR (locked_by IS NULL AND id = ANY ($2::bigint[]))`;

export const FIND_OWN = 'SELECT FROM graphile_worker._private_jobs WHERE id = $1 AND locked_by = $2';

/** Locks the job's row, so that adding a job with the same key waits until this transaction ends. */
export const LOCK_JOB: Statement = { name: 'jobs.lock_job', text: `${FIND_OWN} FOR UPDATE` };

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
export const MOVE_EARLIER = `
  WITH hastened AS (
    UPDATE graphile_worker._private_jobs SET run_at = $2
    WHERE key = $1 AND locked_at IS NULL AND run_at > $2
    RETURNING id
  )
  SELECT pg_notify('jobs:insert', json_build_object('r', random(), 'count', 1)::text) FROM hastened`;
