import { prepared } from '../../platform/database/database.js';
import { IS_RESTORE_UNCHECKED } from '../../platform/database/deployment.store.js';
import { LIVE, UNDECIDED } from '../../users/registration/registrations.sql.js';

/**
 * Marks the rows of campaign $1 that repeat an earlier row. If two rows of a reference differ, marks all rows of the reference: each row
 * describes the whole user, so nobody knows which row is right.
 */
export const MARK_REPEATED = `
    WITH given AS (
      SELECT line, tenant_reference, (adoption, metadata)::text AS content FROM campaign_rows WHERE campaign_id = $1 AND status = 'accepted'
    ), compared AS (
      SELECT line, min(line) OVER same AS first, max(line) OVER same AS last, min(content) OVER same <> max(content) OVER same AS differs
        FROM given WINDOW same AS (PARTITION BY tenant_reference)
    ), repeated AS MATERIALIZED (
      SELECT * FROM compared WHERE differs OR first < line
    )
    UPDATE campaign_rows AS r SET status = 'invalid', problems = problems || jsonb_build_array(CASE WHEN differs
             THEN jsonb_build_object('column', 'tenantReference', 'code', 'adopt_contradicts', 'message',
               format('tenantReference: line %s has it too, and the lines of this reference differ', CASE WHEN first < r.line THEN first ELSE last END))
             ELSE jsonb_build_object('column', NULL, 'code', 'duplicate_row', 'message', format('Line %s has the same reference', first)) END)
      FROM repeated WHERE r.campaign_id = $1 AND r.line = repeated.line`;

/** Marks the accepted rows of campaign $1 that have an id of a user or location in common: nobody knows which row is right. */
export const MARK_SHARED_IDS = `
    WITH ids AS (
      SELECT line, 'user.id' AS field, (adoption #>> '{user,id}')::uuid AS id FROM campaign_rows WHERE campaign_id = $1 AND status = 'accepted'
      UNION ALL
      SELECT line, format('user.gridLocations[%s].id', number - 1), (value ->> 'id')::uuid
        FROM campaign_rows CROSS JOIN jsonb_array_elements(adoption #> '{user,gridLocations}') WITH ORDINALITY AS location (value, number)
       WHERE campaign_id = $1 AND status = 'accepted'
    ), compared AS (
      SELECT line, field, min(line) OVER same AS first, max(line) OVER same AS last, count(*) OVER same AS times FROM ids WINDOW same AS (PARTITION BY id)
    ), shared AS MATERIALIZED (
      SELECT DISTINCT ON (line) line, field, CASE WHEN first < line THEN first ELSE last END AS other
        FROM compared WHERE times > 1 ORDER BY line, field DESC
    )
    UPDATE campaign_rows AS r SET status = 'invalid', problems = problems || jsonb_build_array(jsonb_build_object(
             'column', field, 'code', 'adopt_contradicts', 'message', format('%s: line %s has the same id', field, other)))
      FROM shared WHERE r.campaign_id = $1 AND r.line = shared.line`;

/** Marks the accepted rows of campaign $1 (or only its lines $2) whose user contradicts our database. The problem names the first field. */
// An EAN may belong to several users, because people move house. An id may not, and it must not be the id of any other subject of events.
export const MARK_CONTRADICTIONS = prepared('campaign_rows.mark_contradictions')`
    WITH given AS (
      SELECT line, tenant_reference, (adoption #>> '{user,id}')::uuid AS user_id, adoption #> '{user,gridLocations}' AS locations
        FROM campaign_rows WHERE campaign_id = $1 AND status = 'accepted' AND ($2::int[] IS NULL OR line = ANY ($2))
    ), located AS (
      SELECT line, tenant_reference, number, (value ->> 'id')::uuid AS id, value ->> 'ean' AS ean
        FROM given CROSS JOIN jsonb_array_elements(locations) WITH ORDINALITY AS location (value, number)
    ), contradictions AS (
      SELECT line, 1 AS place, 'tenantReference' AS field, 'the reference has an open registration: decide about it first' AS message
        FROM given JOIN registrations USING (tenant_reference) WHERE registrations.status IN ${UNDECIDED}
      UNION ALL
      SELECT line, 2, 'user.id', 'the reference is registered with another user'
        FROM given JOIN registrations USING (tenant_reference)
       WHERE ${LIVE} AND registrations.status = 'registered' AND registrations.user_id IS DISTINCT FROM given.user_id
      UNION ALL
      SELECT line, 3, 'user.id', 'the id belongs to another reference or object in our database'
        FROM given LEFT JOIN users ON users.id = given.user_id
       WHERE CASE WHEN users.id IS NULL THEN EXISTS (SELECT FROM domain_events WHERE subject = given.user_id::text)
             ELSE users.tenant_reference IS DISTINCT FROM given.tenant_reference END
      UNION ALL
      SELECT line, 4, format('user.gridLocations[%s].id', number - 1), 'the id belongs to another user in our database'
        FROM located JOIN grid_locations USING (id) JOIN users ON users.id = grid_locations.user_id
       WHERE users.tenant_reference IS DISTINCT FROM located.tenant_reference
      UNION ALL
      SELECT line, 5, 'user.gridLocations', 'the user has other grid locations in our database'
        FROM given JOIN users ON users.id = given.user_id
       WHERE (SELECT array_agg((id, ean) ORDER BY id) FROM grid_locations WHERE user_id = users.id)
             IS DISTINCT FROM (SELECT array_agg((id, ean) ORDER BY id) FROM located WHERE located.line = given.line)
    ), first AS MATERIALIZED (
      SELECT DISTINCT ON (line) * FROM contradictions ORDER BY line, place, field
    )
    UPDATE campaign_rows AS r SET status = 'invalid', problems = problems || jsonb_build_array(jsonb_build_object(
             'column', field, 'code', 'adopt_contradicts', 'message', field || ': ' || message))
      FROM first WHERE r.campaign_id = $1 AND r.line = first.line
    RETURNING r.line`;

/** In a dry run, marks the rows of campaign $1 whose user is already in our database. */
export const MARK_KNOWN = `
    UPDATE campaign_rows AS r SET status = 'known', registration_id = registrations.id, user_id = registrations.user_id
      FROM registrations
     WHERE r.campaign_id = $1 AND r.status = 'accepted' AND registrations.tenant_reference = r.tenant_reference AND registrations.status = 'registered'`;

/** Selects at most $3 rows to adopt of campaign $1, if it runs under lease $2. */
export const FIND_NEXT = prepared('campaign_rows.find_to_adopt')`
    SELECT line, tenant_reference AS "tenantReference", metadata, adoption FROM campaign_rows JOIN campaigns ON campaigns.id = campaign_id
     WHERE campaign_id = $1 AND campaign_rows.status = 'accepted' AND lease_token = $2 AND campaigns.status = 'running'
       AND line <> ALL ($4::int[])
     ORDER BY line LIMIT $3`;

/**
 * Locks row $3 of campaign $1 under lease $2. The caller locks this row before the user, as an erasure does. Returns no row if the row has
 * been cancelled.
 */
export const LOCK_ROW = prepared('campaign_rows.lock_to_adopt')`
    SELECT line FROM campaign_rows WHERE campaign_id = $1 AND line = $3 AND status = 'accepted'
       AND EXISTS (SELECT FROM campaigns WHERE id = $1 AND lease_token = $2) FOR UPDATE`;

/** Gives row $2 of campaign $1 its result, with further problems $6. Returns no row if it has been cancelled. */
export const END_ROW = prepared('campaign_rows.end_adoption')`
    UPDATE campaign_rows SET status = $3, registration_id = $4, user_id = $5, problems = problems || $6::jsonb
     WHERE campaign_id = $1 AND line = $2 AND status = 'accepted' RETURNING line`;

/** Inserts a registration that the same transaction confirms. Returns no row if its reference is live, or unchecked after a restore. */
// The registration is never pending, so that no worker can send it.
export const INSERT_TO_CONFIRM = prepared('campaigns.insert_to_confirm')`
    INSERT INTO registrations (tenant_reference, eans, metadata, status, campaign_id)
    SELECT $1, $2, $3, 'uncertain', $4
     WHERE NOT ${IS_RESTORE_UNCHECKED}
    ON CONFLICT (tenant_reference) WHERE ${LIVE} DO NOTHING
    RETURNING id`;

/** Finds the registration of user $2 with reference $1. `registered`: campaign $3 has registered it. */
export const FIND_REGISTERED = prepared('campaigns.find_registered')`
    SELECT id AS "registrationId", CASE campaign_id WHEN $3 THEN 'registered' ELSE 'known' END AS status FROM registrations
     WHERE tenant_reference = $1 AND user_id = $2 AND status = 'registered'`;
