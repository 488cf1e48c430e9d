import { hastenJob } from '../../../platform/jobs/jobs.sql.js';
import type { Statement, Transaction } from '../../../platform/database/database.js';

export const WEBHOOK_TASK = 'webhook';

export interface WebhookJobPayload {
  readonly endpointId: string;
}

// One job per endpoint, so that one process at a time delivers to it. `unsafe_dedupe` leaves a running job unchanged; see
// events/handlers/handlers.sql.ts for why that is safe. Jobs are added in key order, so that concurrent callers cannot deadlock.
const ADD: Statement = {
  name: 'webhooks.add-jobs',
  text: `
    SELECT job.key, endpoint.due_at AS "dueAt", job.locked_at IS NULL AND job.run_at > endpoint.due_at AS "isLater"
    FROM (
      SELECT id, greatest(clock_timestamp(), quiet_until, $2::timestamptz) AS due_at
      FROM webhook_endpoints WHERE id = ANY ($1::uuid[]) AND disabled_at IS NULL
      ORDER BY 'webhook:' || id
    ) AS endpoint
    CROSS JOIN LATERAL graphile_worker.add_job(
      identifier => '${WEBHOOK_TASK}',
      payload => json_build_object('endpointId', endpoint.id),
      job_key => 'webhook:' || endpoint.id,
      job_key_mode => 'unsafe_dedupe',
      run_at => endpoint.due_at,
      max_attempts => 32767
    ) AS job`,
};

interface AddedJob {
  readonly key: string;
  readonly dueAt: Date;
  readonly isLater: boolean;
}

/**
 * Adds a delivery job for each enabled endpoint, due when its quiet period ends and not before `notBefore`. Moves a waiting job
 * forward if it is due later. Call it in the transaction that inserts deliveries or makes them due.
 */
export async function addWebhookJobs(
  tx: Transaction,
  endpointIds: readonly string[],
  notBefore: Date | null = null,
): Promise<void> {
  const jobs = await tx.query<AddedJob>(ADD, [endpointIds, notBefore]);
  for (const { key, dueAt, isLater } of jobs) if (isLater) await hastenJob(tx, key, dueAt);
}
