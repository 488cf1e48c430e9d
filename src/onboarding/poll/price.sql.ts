import type { Statement } from '../../platform/database/database.js';
import { msFromNow } from '../../platform/database/timestamps.js';
import { AGES_PER_E } from '../rules/price.rules.js';

/** Adds the reads of this worker. Executed by every worker several times per period, hence a prepared statement. */
export const ADD_READS: Statement = {
  name: 'onboarding.add_reads',
  text: `
    UPDATE read_price SET reads = reads + $1
    RETURNING step_at + $2 * interval '1 millisecond' <= clock_timestamp() AS "isDue"`,
};

/** Begins a step if no worker has begun one in the last period. `stepAt` is the fence of FINISH_STEP, in all its digits. */
export const BEGIN_STEP: Statement = {
  name: 'onboarding.begin_price_step',
  text: `
    WITH before AS (
      SELECT * FROM read_price WHERE step_at + $1 * interval '1 millisecond' <= clock_timestamp() FOR UPDATE SKIP LOCKED
    )
    UPDATE read_price p SET step_at = clock_timestamp(), reads = 0 FROM before
    RETURNING p.step_at::text AS "stepAt", p.step_at AS now, before.reads::float8 AS reads, p.stretch,
      extract(epoch FROM p.step_at - before.step_at)::float8 AS seconds, p.wanted_per_second AS "wantedPerSecond",
      coalesce(p.measure_after <= clock_timestamp(), true) AS "isMeasureDue", p.capacity_per_second AS "capacityPerSecond",
      p.ceiling_per_second AS "ceilingPerSecond", p.was_behind AS "wasBehind", p.read_per_second AS "readPerSecond", p.short_since AS "shortSince", p.announced_at AS "announcedAt"`,
};

// date_part instead of extract, which computes a numeric and takes longer. A scan of a million sessions takes a second on two busy cores.
const countByAge = (brand: string, sessions: string) => `
    SELECT ${brand} AS brand, phase, floor(${AGES_PER_E} * ln(greatest(0.001, date_part('epoch', now() - anchor_at))))::int AS age, count(*)::int AS sessions
      FROM ${sessions} GROUP BY 1, 2, 3`;
export const COUNT_BY_AGE = countByAge("''", 'session_polls');
/** Used only while habits are known: with the join, the scan takes three times as long. */
export const COUNT_BY_BRAND = countByAge(
  "coalesce(s.brand, '')",
  'session_polls JOIN onboarding_sessions s ON s.id = session_id',
);

/** Says how long not to scan the sessions, and what they want, if that was measured. */
// Outside the fence: a scan may take longer than a step.
export const WRITE_MEASURE: Statement = {
  name: 'onboarding.write_price_measure',
  text: `
    UPDATE read_price SET measure_after = ${msFromNow('$1')}, wanted_per_second = coalesce($2, wanted_per_second)`,
};

/** Returns whether more than $1 sessions are due and not claimed, and whether a read can succeed. Stops counting at $1. */
export const READ_BACKLOG: Statement = {
  name: 'onboarding.read_price_backlog',
  text: `
    SELECT (
        SELECT count(*) FROM (
          SELECT FROM session_polls
           WHERE due_at <= (SELECT now()) AND (batch_id IS NULL OR batch_id <> ALL (ARRAY(SELECT id FROM poll_batches)))
           ORDER BY due_at LIMIT $1::bigint + 1) AS waiting
      ) > $1::bigint AS "isBehind",
      NOT EXISTS (SELECT FROM remote_operations WHERE operation IN ('token', 'read_session') AND health <> 'healthy') AS "isHealthy"`,
};

/** Ends a step. Changes nothing if another worker has begun a later one. */
export const FINISH_STEP: Statement = {
  name: 'onboarding.finish_price_step',
  text: `
    UPDATE read_price
       SET stretch = $2, capacity_per_second = $3, ceiling_per_second = $4, was_behind = $5, read_per_second = $6,
           allowed_per_second = $7, short_since = $8, announced_at = $9
     WHERE step_at = $1::timestamptz
    RETURNING id`,
};

/** Returns the current stretch, as an expression. */
export const STRETCH = 'coalesce((SELECT stretch FROM read_price), 1)';
