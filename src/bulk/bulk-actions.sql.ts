import { leasesOn } from '../platform/database/lease.sql.js';

export const BULK_LEASES = leasesOn({ table: 'bulk_actions', key: 'id' });

/** Finds the unfinished actions that no process works on. */
export const FIND_DUE = `
    SELECT id FROM bulk_actions WHERE finished_at IS NULL AND ${BULK_LEASES.isClaimable} ORDER BY due_at`;

export const INSERT_ITEMS = `
    INSERT INTO bulk_action_items (action_id, ordinal, target)
    SELECT $1, ordinal, target FROM unnest($2::uuid[]) WITH ORDINALITY AS given (target, ordinal)`;

/** Locks the next $3 ids of action $1 under lease $2, other than those at the places $4. */
export const LOCK_NEXT_ITEMS = `
    SELECT i.ordinal FROM bulk_action_items i JOIN bulk_actions a ON a.id = i.action_id AND a.lease_token = $2
     WHERE i.action_id = $1 AND i.status = 'pending' AND i.ordinal <> ALL ($4::int[]) ORDER BY i.ordinal LIMIT $3 FOR UPDATE OF i`;

/** Begins the ids of action $1 at the places $2. `wasBegun`: a process that died may have done it already. */
export const BEGIN_ITEMS = `
    WITH begun AS (
      UPDATE bulk_action_items i SET begun_at = coalesce(i.begun_at, clock_timestamp())
        FROM bulk_action_items before
       WHERE i.action_id = $1 AND i.ordinal = ANY ($2::int[]) AND (before.action_id, before.ordinal) = (i.action_id, i.ordinal)
      RETURNING i.ordinal, i.target AS id, before.begun_at IS NOT NULL AS "wasBegun"
    )
    SELECT * FROM begun ORDER BY ordinal`;

/** Writes a result of action $1 under lease $2. */
export const SETTLE_ITEM = `
    UPDATE bulk_action_items i SET status = $4, code = $5, detail = $6, done_at = clock_timestamp()
      FROM bulk_actions a WHERE a.id = i.action_id AND a.lease_token = $2 AND i.action_id = $1 AND i.ordinal = $3 AND i.status = 'pending'`;

/** Ends action $1 under lease $2, all of whose ids have a result, other than those at the places $3. */
export const FINISH = `
    UPDATE bulk_actions a
       SET finished_at = clock_timestamp(), arguments = CASE WHEN a.erased_at IS NULL THEN a.arguments ELSE '{}' END
     WHERE a.id = $1 AND a.lease_token = $2
       AND NOT EXISTS (
         SELECT FROM bulk_action_items i WHERE i.action_id = a.id AND i.status = 'pending' AND i.ordinal <> ALL ($3::int[]))`;

export const OF_PERSON = `t.id IN (SELECT action_id FROM bulk_action_items WHERE target = ANY ($1::uuid[]))`;

/**
 * Clears what a caller has written about the actions on these ids: they may be the metadata, the return address or the name of a person. An
 * action that is not finished needs its arguments for its other ids, and loses them at its end.
 */
export const ERASE_ACTIONS = `
    WITH acting AS MATERIALIZED (
      SELECT t.id FROM bulk_actions t WHERE ${OF_PERSON} ORDER BY t.id FOR UPDATE
    ), erased AS (
      UPDATE bulk_actions a
         SET erased_at = clock_timestamp(), reason = 'erased',
             arguments = CASE WHEN a.finished_at IS NULL THEN a.arguments ELSE '{}' END
        FROM acting WHERE a.id = acting.id
      RETURNING a.id::text
    )
    UPDATE audit_log l SET details = l.details - 'reason' FROM erased
     WHERE l.action = 'bulk_action.created' AND l.target = erased.id RETURNING l.id`;
