import { msFromNow } from '../../platform/database/timestamps.js';
import { AGES_PER_E } from '../rules/price.rules.js';

/** Begins a step if no worker has begun one in the last period. `now` is the fence of FINISH_STEP. */
// abs: the clock may have been set back.
export const BEGIN_STEP = `
    WITH before AS (
      SELECT * FROM read_price WHERE abs(date_part('epoch', clock_timestamp() - step_at)) * 1000 >= $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE read_price p SET step_at = clock_timestamp(), reads = 0 FROM before
    RETURNING p.step_at AS now, before.reads::float8 AS reads, p.stretch,
      abs(date_part('epoch', p.step_at - before.step_at)) AS seconds, p.wanted_per_second AS "wantedPerSecond",
      coalesce(p.measure_after <= clock_timestamp(), true) AS "isMeasureDue", p.capacity_per_second AS "capacityPerSecond",
      p.ceiling_per_second AS "ceilingPerSecond", p.was_behind AS "wasBehind", p.read_per_second AS "readPerSecond", p.short_since AS "shortSince", p.announced_at AS "announcedAt"`;

// date_part instead of extract, which computes a numeric and takes longer. A scan of a million sessions takes a second on two busy cores.
const countByAge = (brand: string, sessions: string) => `
    SELECT ${brand} AS brand, phase, floor(${AGES_PER_E} * ln(greatest(0.001, date_part('epoch', now() - anchor_at))))::int AS age, count(*)::int AS sessions
      FROM ${sessions} GROUP BY 1, 2, 3`;
export const COUNT_BY_AGE = countByAge('NULL', 'session_polls');
/** Used only while habits are known: with the join, the scan takes three times as long. */
// All other brands form one group, since an app may give each session a brand of its own.
export const COUNT_BY_BRAND = countByAge(
  "CASE WHEN coalesce(s.brand, '') = ANY($1::text[]) THEN coalesce(s.brand, '') END",
  'session_polls JOIN onboarding_sessions s ON s.id = session_id',
);

/** Sets when the next scan of the sessions is due, in $1 ms, and the reads per second that they want ($2), if it is not null. */
// Outside the fence: a scan may take longer than a step.
export const WRITE_MEASURE = `
    UPDATE read_price SET measure_after = ${msFromNow('$1')}, wanted_per_second = coalesce($2, wanted_per_second)`;

/** Returns whether more than $1 sessions are due and not claimed, and whether the remote service accepts reads. */
// A rate limit is not trouble, though it opens the breaker: a requested wait that lasts or ended within 5 minutes, or a 429, which need not
// request a wait. Trouble with the token is not trouble either: reads continue with the last token, and without a token there are no reads.
export const READ_BACKLOG = `
    SELECT (
        SELECT count(*) FROM (
          SELECT FROM session_polls
           WHERE due_at <= (SELECT now()) AND (batch_id IS NULL OR batch_id <> ALL (ARRAY(SELECT id FROM poll_batches)))
           ORDER BY due_at LIMIT $1::bigint + 1) AS waiting
      ) > $1::bigint AS "isBehind",
      NOT EXISTS (
        SELECT FROM remote_operations
         WHERE operation = 'read_session' AND health <> 'healthy'
           AND (quiet_until > clock_timestamp() - interval '5 minutes' OR reason = 'status 429') IS NOT TRUE) AS "isHealthy"`;

/** Ends a step. Changes nothing if another worker has begun a later one. */
export const FINISH_STEP = `
    UPDATE read_price
       SET stretch = $2, capacity_per_second = $3, ceiling_per_second = $4, was_behind = $5, read_per_second = $6,
           allowed_per_second = $7, short_since = $8, announced_at = $9
     WHERE step_at = $1
    RETURNING id`;

/** The current stretch, as an SQL expression. */
export const STRETCH = 'coalesce((SELECT stretch FROM read_price), 1)';
