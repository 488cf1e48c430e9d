import { COUNT, OF_CAUSE } from '../stalls/stalls.sql.js';

const STALL_COLUMNS = `
           x.kind, x.subject AS id, x.cause, x.since, x.raised_at AS "raisedAt", x.evidence, x.tenant_reference AS "tenantReference",
           x.grid_location_id AS "gridLocationId", x.brand, x.campaign_id AS "campaignId", x.note, x.assignee,
           CASE WHEN x.snoozed_until > now() THEN x.snoozed_until END AS "snoozedUntil"`;

const SELECT_STALL = `SELECT ${STALL_COLUMNS}`;

/** Selects a page of stalls `x`, each with its cause `w`. */
// The first of each cause come from one index, whatever the filter, and are merged. Without that, a rare cause passed all other stalls.
export const selectStalls = (page: string, order: string): string => `
    ${SELECT_STALL} FROM stall_causes w CROSS JOIN LATERAL (SELECT x.* FROM stalls x ${page}) x ${order}`;

/** The first full hour of the last 24 hours. */
const FULL_HOURS = `date_trunc('hour', now() - interval '24 h', 'UTC') + interval '1 h'`;

/** Counts the stalls of the kinds $1 by cause, with the oldest $2 of each. */
// Reads no more stalls than the oldest, and those that began within one hour a day ago: counting all of them took 100 ms for 370,000.
export const GROUP_STALLS = `
    WITH counted AS MATERIALIZED (
      SELECT kind, cause, ${COUNT} AS count, sum(n.difference) FILTER (WHERE hour >= ${FULL_HOURS}) AS recent
        FROM stall_counts n WHERE kind = ANY ($1) GROUP BY kind, cause HAVING sum(n.difference) > 0)
    SELECT w.kind, w.cause, w.count, (coalesce(w.recent, 0) + first_hour.count)::int AS new, oldest.items FROM counted w
     CROSS JOIN LATERAL (
           SELECT count(*) FROM stalls x WHERE ${OF_CAUSE} AND x.since > now() - interval '24 h' AND x.since < ${FULL_HOURS}) first_hour
     CROSS JOIN LATERAL (
           SELECT json_agg(first) AS items FROM (${SELECT_STALL} FROM stalls x WHERE ${OF_CAUSE} ORDER BY x.since LIMIT $2) first) oldest
     ORDER BY new DESC, w.count DESC, w.kind, w.cause`;

export const LOCK_STALL = 'SELECT cause FROM stalls WHERE kind = $1 AND subject = $2 FOR UPDATE';

/** Finds the time of the last event about the end of a stall of subject $2 of kind $1. */
export const FIND_END = `
    SELECT time FROM domain_events WHERE subject = $2 AND name = 'stall.cleared' AND data ->> 'kind' = $1 ORDER BY position DESC LIMIT 1`;

/** Changes what people know about a stall. A parameter of the flags $3, $5 and $7 says whether the value after it is given. */
export const WORK_ON_STALL = `
    UPDATE stalls x
       SET note = CASE WHEN $3 THEN $4 ELSE note END, assignee = CASE WHEN $5 THEN $6 ELSE assignee END,
           snoozed_until = CASE WHEN $7 THEN $8::timestamptz ELSE snoozed_until END
     WHERE x.kind = $1 AND x.subject = $2
    RETURNING ${STALL_COLUMNS}`;
