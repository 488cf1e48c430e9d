import { prepared, type Database } from '../platform/database/database.js';
import { UNREACHABLE_READS } from '../onboarding/stalls/session.stall.rules.js';
import { CHECKED_AT } from '../onboarding/store/sessions.sql.js';
import { STRETCH } from '../onboarding/poll/read-budget.store.js';

/** The recursion `brands`: the brands of sessions, in the order of their ids, and a null after the last. */
// Finds each brand by one look-up in the index (brand, recorded_at): the cost grows with the brands, not with the sessions.
const BRANDS_OF_SESSIONS = `
    brands AS (
      SELECT min(brand) AS brand FROM onboarding_sessions
      UNION ALL
      SELECT (SELECT min(s.brand) FROM onboarding_sessions s WHERE s.brand > b.brand) FROM brands b WHERE b.brand IS NOT NULL
    )`;

const LIST_BRANDS = `
  WITH RECURSIVE ${BRANDS_OF_SESSIONS} SELECT brand FROM brands WHERE brand IS NOT NULL LIMIT 100`;

/** Returns at most 100 brands that sessions have, in the order of their ids. */
export const listBrands = async (database: Database): Promise<string[]> =>
  (await database.query<{ brand: string }>(LIST_BRANDS)).map(({ brand }) => brand);

/** The newest sessions of each brand, which are read most often and are most like the next one. */
const NEWEST = 100;
/** The failing sessions of fewer users may have another reason than their brand. */
const LEAST_FAILING = 5;
/** While reads are degraded, the sessions of others that must have been read since the brand fails, and none of which may have failed. */
const LEAST_READ = 3;
/** Sessions of others that began to fail this shortly before may do so for the same reason, such as an outage of all brands. */
const TOGETHER = '1 minute';
/** A session that has failed for longer does not count, so that owners can try again, and show whether the brand still fails. */
const FAILS_WITHIN = '1 day';

/** A session that is read a little late still counts as read. */
const ALLOWED_LATENESS = 4 / 3;

/** The brands of which no owner can begin a session now, as an SQL array. Without a worker, it is empty after two minutes. */
export const FAILING_BRANDS = `
    ARRAY(SELECT o.brand FROM brand_outages o WHERE o.checked_at > now() - interval '2 minutes')`;

/*
 * The interface has no sign of a brand but the reads of its sessions. A brand fails if sessions of at least 5 users cannot be read although
 * those of others can. There are two signs of that:
 *
 * - At least as many newest sessions of the brand have failed three times in a row as could be read. A session of another brand, or without
 *   one, has been read since, and before one of these failed again: after an outage of the whole remote service, the sessions of one brand
 *   are read before those of the others.
 * - While reads are degraded, one failure of each session is enough: a brand with most of the sessions opens the breaker of all reads, so that
 *   each session is read far too seldom to fail three times. Since then, no session of the brand has been read, three of others have, and none
 *   of others has begun to fail. Here no session of the brand counts as read, however many were read before.
 */
// $1: the ms within which each open session is read. OFFSET 0 prevents a hash join, which would read all polls.
const UPDATE_OUTAGES = prepared('onboarding.update_brand_outages')`
    WITH RECURSIVE ${BRANDS_OF_SESSIONS}, newest AS (
      SELECT s.* FROM brands b CROSS JOIN LATERAL (
        SELECT s.brand, s.id, s.user_id, s.recorded_at, s.last_checked_at FROM onboarding_sessions s
         WHERE s.brand = b.brand ORDER BY s.recorded_at DESC LIMIT ${NEWEST}) s
      UNION ALL
      (SELECT s.brand, s.id, s.user_id, s.recorded_at, s.last_checked_at FROM onboarding_sessions s
        WHERE s.brand IS NULL ORDER BY s.brand DESC, s.recorded_at DESC LIMIT ${NEWEST})
    ), polled AS (
      SELECT s.brand, s.user_id, p.failing_since, p.planned_at AS failed_at, ${CHECKED_AT} AS read_at,
             CASE WHEN p.not_found = 0 AND p.failing_since > now() - interval '${FAILS_WITHIN}' THEN p.failures ELSE 0 END AS failures,
             p.failures = 0 AND ${CHECKED_AT} > greatest(s.recorded_at, now() - ${STRETCH} * $1::float8 * interval '1 ms') AS is_read
        FROM newest s CROSS JOIN LATERAL (SELECT * FROM session_polls WHERE session_id = s.id OFFSET 0) p
        LEFT JOIN poll_batches b ON b.id = p.batch_id
    ), counted AS (
      SELECT brand, least_failures, count(*) FILTER (WHERE failures >= least_failures) AS failing, count(*) FILTER (WHERE is_read) AS read,
             count(DISTINCT user_id) FILTER (WHERE failures >= least_failures) AS users,
             max(failed_at) FILTER (WHERE failures >= least_failures) AS failed_at,
             (array_agg(failing_since ORDER BY failing_since) FILTER (WHERE failures >= least_failures))[${LEAST_FAILING}] AS since
        FROM polled, (VALUES (1), (${UNREACHABLE_READS})) AS sorts (least_failures)
       GROUP BY brand, least_failures
    ), found AS (
      SELECT DISTINCT ON (c.brand) c.brand, c.since, c.failing, CASE WHEN o.is_mixed THEN c.read ELSE 0 END
        FROM counted c CROSS JOIN LATERAL (
          SELECT count(*) FILTER (WHERE o.is_read AND o.read_at > c.since AND o.brand IS DISTINCT FROM c.brand) AS others,
                 count(*) FILTER (WHERE o.is_read AND o.read_at > c.since AND o.brand IS DISTINCT FROM c.brand
                                    AND (o.read_at < c.failed_at OR c.brand = ANY (${FAILING_BRANDS}))) AS others_between,
                 bool_or(o.is_read AND o.read_at > c.since AND o.brand = c.brand
                         OR o.failures > 0 AND o.failing_since > c.since - interval '${TOGETHER}' AND o.brand IS DISTINCT FROM c.brand) AS is_mixed
            FROM polled o) o
       WHERE c.brand IS NOT NULL AND c.users >= ${LEAST_FAILING}
         AND (c.least_failures > 1 AND c.failing >= c.read AND o.others_between > 0
              OR NOT o.is_mixed AND o.others >= ${LEAST_READ}
                 AND (c.brand = ANY (${FAILING_BRANDS})
                      OR EXISTS (SELECT FROM remote_operations WHERE operation = 'read_session' AND health <> 'healthy')))
       ORDER BY c.brand, c.least_failures DESC
    ), ended AS (
      DELETE FROM brand_outages WHERE brand NOT IN (SELECT brand FROM found)
    )
    INSERT INTO brand_outages (brand, since, failing, read) SELECT * FROM found
    ON CONFLICT (brand) DO UPDATE
       SET failing = excluded.failing, read = excluded.read, checked_at = excluded.checked_at`;

/** Finds the brands that fail now, by the reads of their sessions. `maxIntervalMs`: POLL_MAX_INTERVAL_MS. */
export const updateBrandOutages = (database: Database, maxIntervalMs: number): Promise<object[]> =>
  database.query(UPDATE_OUTAGES, [maxIntervalMs * ALLOWED_LATENESS]);
