import { prepared } from '../platform/database/database.js';

// Uses now() instead of clock_timestamp(), since only a stable function can bound an index scan.
const DUE = `look_at <= now() AND kind = ANY ($1)`;

export const ANY_DUE = 'SELECT FROM stall_looks WHERE look_at <= now()';

/**
 * Locks at most $2 due subjects of the kinds $1. A change of a locked subject waits for the end of the transaction, since its trigger writes
 * the same row. So the facts, read by later statements, are those before the change, and the change makes the subject due again.
 */
export const LOCK_DUE = prepared('stalls.lock_due')`
    SELECT kind, subject, clock_timestamp() AS now FROM stall_looks WHERE ${DUE}
     ORDER BY look_at LIMIT $2 FOR UPDATE SKIP LOCKED`;

/** Locks subject $2 of kind $1 if it is due. Waits while another process looks at it. */
export const LOCK_SUBJECT = prepared('stalls.lock_subject')`
    SELECT kind, subject, clock_timestamp() AS now FROM stall_looks WHERE kind = $1 AND subject = $2 AND look_at <= now() FOR UPDATE`;

export const FIND_STALLS = prepared('stalls.find')`
    SELECT subject, cause, since, evidence FROM stalls WHERE kind = $1 AND subject = ANY ($2::uuid[])`;

/** Inserts stalls, or updates those that are different: these are no longer snoozed, and keep their note and assignee. */
export const UPSERT_STALLS = prepared('stalls.upsert')`
    INSERT INTO stalls (kind, subject, cause, since, evidence, user_id, tenant_reference, grid_location_id, brand, campaign_id)
    SELECT $1, r.id, r.cause, r.since, r.evidence, r."userId", r."tenantReference", r."gridLocationId", r.brand, r."campaignId"
      FROM jsonb_to_recordset($2::jsonb) AS r (id uuid, cause text, since timestamptz, evidence jsonb, "userId" uuid,
             "tenantReference" text, "gridLocationId" uuid, brand text, "campaignId" uuid)
    ON CONFLICT (kind, subject) DO UPDATE
       SET cause = excluded.cause, since = excluded.since, evidence = excluded.evidence,
           raised_at = CASE WHEN stalls.cause = excluded.cause THEN stalls.raised_at ELSE excluded.raised_at END,
           snoozed_until = NULL`;

export const DELETE_STALLS = prepared('stalls.delete')`
    DELETE FROM stalls WHERE kind = $1 AND subject = ANY ($2::uuid[])`;

export const LOOK_LATER = prepared('stalls.look_later')`
    UPDATE stall_looks l SET look_at = greatest(r."lookAt", clock_timestamp() + interval '1 second')
      FROM jsonb_to_recordset($1::jsonb) AS r (kind text, subject uuid, "lookAt" timestamptz)
     WHERE l.kind = r.kind AND l.subject = r.subject`;

export const DELETE_LOOKS = prepared('stalls.delete_looks')`
    DELETE FROM stall_looks l USING jsonb_to_recordset($1::jsonb) AS r (kind text, subject uuid)
     WHERE l.kind = r.kind AND l.subject = r.subject`;

/** Whether stall `t` belongs to a person with the ids $1, or is about an inverter in a session of theirs. */
export const OF_PERSON = `
    t.user_id = ANY ($1::uuid[]) OR t.kind = 'registration' AND t.subject = ANY ($1::uuid[])
    OR t.kind = 'inverter' AND t.subject IN (SELECT id FROM inverters WHERE session_id = ANY ($1::uuid[]))`;

/** Deletes the stalls of user $1 and of the registrations $2. Returns what the events about their end need. */
export const ERASE_STALLS = `
    DELETE FROM stalls s WHERE user_id = $1 OR kind = 'registration' AND subject = ANY ($2::uuid[])
    RETURNING kind, subject, cause, since, evidence,
              coalesce((SELECT c.waits_for FROM stall_causes c WHERE c.kind = s.kind AND c.cause = s.cause), 'nobody') AS "waitsFor"`;

/** Deletes the due notes about inverters of erased sessions. The stall of one may stay, since other customers may have it, too. */
export const ERASE_NOTES = `
    UPDATE stalls s SET note = NULL, assignee = NULL FROM stall_looks l
     WHERE s.kind = 'inverter' AND (s.note IS NOT NULL OR s.assignee IS NOT NULL) AND l.kind = s.kind AND l.subject = s.subject`;

/** Writes the catalogue. Keeps the causes of features that this process does not have. */
export const WRITE_CAUSES = `
    INSERT INTO stall_causes (kind, cause, waits_for, urgency, meaning, before, remedies)
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS r (kind text, cause text, waits_for text, urgency text, meaning text, before text, remedies text[])
    ON CONFLICT (kind, cause) DO UPDATE
       SET waits_for = excluded.waits_for, urgency = excluded.urgency, meaning = excluded.meaning, before = excluded.before,
           remedies = excluded.remedies
     WHERE (stall_causes.waits_for, stall_causes.urgency, stall_causes.meaning, stall_causes.before, stall_causes.remedies)
           IS DISTINCT FROM (excluded.waits_for, excluded.urgency, excluded.meaning, excluded.before, excluded.remedies)`;

/** The condition that stall `x` has cause `w`. */
export const OF_CAUSE = 'x.kind = w.kind AND x.cause = w.cause';

/** The stall of subject `id` of a kind as JSON, or null; for the statements that read subjects. */
export const stallOf = (kind: string, id: string): string => `
           (SELECT json_build_object('cause', x.cause, 'since', x.since, 'evidence', x.evidence)
              FROM stalls x WHERE x.kind = '${kind}' AND x.subject = ${id})`;

/** The number of the stalls whose rows of stall_counts are `n`. */
export const COUNT = 'coalesce(sum(n.difference), 0)::int';

/** Merges the rows of stall_counts if there are more than $1. */
// Skips rows that another process merges at the same time.
export const MERGE_COUNTS = prepared('stalls.merge_counts')`
    WITH merged AS (
      DELETE FROM stall_counts
       WHERE (SELECT count(*) FROM stall_counts) > $1 AND id = ANY (ARRAY(SELECT id FROM stall_counts FOR UPDATE SKIP LOCKED))
      RETURNING kind, cause, stall_hour(hour) AS hour, difference
    )
    INSERT INTO stall_counts (kind, cause, hour, difference)
    SELECT kind, cause, hour, sum(difference) FROM merged GROUP BY 1, 2, 3 HAVING sum(difference) <> 0`;
