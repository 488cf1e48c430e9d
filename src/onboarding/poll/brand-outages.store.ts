import { prepared, type Database } from '../../platform/database/database.js';
import { UNREACHABLE_READS } from '../stalls/session.stall.rules.js';

/** The newest sessions of each brand, which are read most often and are most like the next one. */
const NEWEST = 100;
/** Fewer failing sessions may have another reason than their brand. */
const LEAST_FAILING = 5;
/** The longest default interval between two reads of an open session: what was read before says nothing about now. */
const READ_WITHIN = '15 minutes';
/** A session that has failed for longer does not count, so that owners can try again, and show whether the brand still fails. */
const FAILS_WITHIN = '1 day';

/** The brands of which no owner can begin a session now, as an SQL array. Without a worker, it is empty after two minutes. */
export const FAILING_BRANDS = `
    ARRAY(SELECT o.brand FROM brand_outages o WHERE o.checked_at > now() - interval '2 minutes')`;

// A brand fails if at least 5 of its newest sessions cannot be read, at least as many as can, and a session of another brand, or without
// one, has been read since. If none has, the remote service fails, not the brand. The interface has no sign of a brand but this.
// The recursion finds each brand by one look-up in the index (brand, recorded_at): the cost grows with the brands, not with the sessions.
const UPDATE_OUTAGES = prepared('onboarding.update_brand_outages')`
    WITH RECURSIVE brands AS (
      SELECT min(brand) AS brand FROM onboarding_sessions
      UNION ALL
      SELECT (SELECT min(s.brand) FROM onboarding_sessions s WHERE s.brand > b.brand) FROM brands b WHERE b.brand IS NOT NULL
    ), newest AS (
      SELECT s.* FROM brands b CROSS JOIN LATERAL (
        SELECT s.brand, s.id, s.recorded_at FROM onboarding_sessions s
         WHERE s.brand = b.brand ORDER BY s.recorded_at DESC LIMIT ${NEWEST}) s
      UNION ALL
      (SELECT s.brand, s.id, s.recorded_at FROM onboarding_sessions s
        WHERE s.brand IS NULL ORDER BY s.brand DESC, s.recorded_at DESC LIMIT ${NEWEST})
    ), polled AS (
      SELECT n.brand, p.failing_since, p.checked_at,
             p.failures >= ${UNREACHABLE_READS} AND p.not_found = 0 AND p.failing_since > now() - interval '${FAILS_WITHIN}' AS is_failing,
             p.failures = 0 AND p.checked_at > greatest(n.recorded_at, now() - interval '${READ_WITHIN}') AS is_read
        FROM newest n JOIN session_polls p ON p.session_id = n.id
    ), counted AS (
      SELECT brand, count(*) FILTER (WHERE is_failing) AS failing, count(*) FILTER (WHERE is_read) AS read,
             (array_agg(failing_since ORDER BY failing_since) FILTER (WHERE is_failing))[${LEAST_FAILING}] AS since,
             max(checked_at) FILTER (WHERE is_read) AS read_at
        FROM polled GROUP BY brand
    ), found AS (
      SELECT c.brand, c.since, c.failing, c.read FROM counted c
       WHERE c.brand IS NOT NULL AND c.failing >= greatest(c.read, ${LEAST_FAILING})
         AND EXISTS (SELECT FROM counted o WHERE o.brand IS DISTINCT FROM c.brand AND o.read_at > c.since)
    ), ended AS (
      DELETE FROM brand_outages WHERE brand NOT IN (SELECT brand FROM found)
    )
    INSERT INTO brand_outages (brand, since, failing, read) SELECT * FROM found
    ON CONFLICT (brand) DO UPDATE
       SET failing = excluded.failing, read = excluded.read, checked_at = excluded.checked_at`;

/** Finds the brands that fail now, by the reads of their sessions. */
export const updateBrandOutages = (database: Database): Promise<object[]> => database.query(UPDATE_OUTAGES);
