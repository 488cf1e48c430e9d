import { prepared } from '../../platform/database/database.js';
import { IS_RESTORE_UNCHECKED } from '../../platform/database/deployment.store.js';
import { leasesOn } from '../../platform/database/lease.sql.js';
import { LIVE, UNDECIDED } from '../../users/registration/registrations.sql.js';

// The statements are SQL, since they take and settle rows in sets, under a lease by the database's clock.

/** Notifies the workers that a campaign is due. A notification may be lost, so they also search. */
export const CAMPAIGNS_CHANNEL = 'pv_onboarding_campaigns';

/** Returns a statement that makes campaigns due, and notifies the workers if it changed one. */
export const notifying = (update: string): string => `
    WITH due AS (${update} RETURNING id)
    SELECT id, pg_notify('${CAMPAIGNS_CHANNEL}', '') FROM due`;

export const CAMPAIGN_LEASES = leasesOn({ table: 'campaigns', key: 'id' });

/** Finds the campaigns to drain that are not claimed. A paused or cancelled campaign still settles what it has sent. */
export const FIND_DUE = `
    SELECT id FROM campaigns
     WHERE finished_at IS NULL AND status IN ('running', 'paused', 'cancelled') AND ${CAMPAIGN_LEASES.isClaimable}
     ORDER BY due_at`;

/** Locks campaign $1 under lease $2, so that its status does not change until the commit. */
export const LOCK_LEASED = prepared('campaigns.lock_leased')`
    SELECT status, invites, adopts FROM campaigns WHERE id = $1 AND lease_token = $2 FOR NO KEY UPDATE`;

/**
 * Takes the next references of campaign $1 in the order of their first rows, with all rows of each. Limits the pending registrations of the
 * campaign to $2.
 */
// Finds the rows of a reference by the index on references. Compares campaign and status as one row, so that no other index fits. If
// another index fitted, the planner might read all rows of the file for each reference, since it has no statistics just after an upload.
export const TAKE_NEXT = prepared('campaign_rows.take_next')`
    WITH next AS MATERIALIZED (
      SELECT tenant_reference FROM campaign_rows WHERE campaign_id = $1 AND status = 'accepted' ORDER BY line
       LIMIT greatest(0, $2 - (
         SELECT count(DISTINCT registration_id) FROM campaign_rows WHERE campaign_id = $1 AND status = 'sent'))
    )
    SELECT taken.* FROM (SELECT DISTINCT tenant_reference FROM next) AS wanted CROSS JOIN LATERAL (
        SELECT line, tenant_reference AS "tenantReference", ean, metadata FROM campaign_rows
         WHERE tenant_reference = wanted.tenant_reference AND (campaign_id, status) IS NOT DISTINCT FROM ($1::uuid, 'accepted')
         FOR UPDATE
      ) AS taken
     ORDER BY line`;

/** Gives the rows $2, with the lines $3, of campaign $1 their registrations. $4 is the problem of a row that is invalid. */
export const MARK_ROWS = prepared('campaign_rows.mark')`
    UPDATE campaign_rows AS r
       SET status = marked.status, registration_id = marked."registrationId",
           problems = CASE WHEN marked.status = 'invalid' THEN r.problems || $4::jsonb ELSE r.problems END
      FROM jsonb_to_recordset($2::jsonb) AS marked (line int, status text, "registrationId" uuid)
     WHERE r.campaign_id = $1 AND r.line = ANY ($3) AND r.line = marked.line`;

/** The rows of campaign $1 whose registration `done` has ended. */
const ENDED = `r.campaign_id = $1 AND r.status IN ('sent', 'uncertain') AND done.id = r.registration_id
       AND done.status <> 'pending' AND done.status <> r.status`;

export const FIND_ENDED = `SELECT r.line FROM campaign_rows AS r, registrations AS done WHERE ${ENDED}`;

/**
 * If the registration of a row of campaign $1 has ended, gives the row its result. `known`: the registration is not of this campaign. $2 is
 * NOT_REGISTERED. $3 are the lines of the rows; null: all.
 */
// An uncertain row is settled again once a person has decided. Omits the part of last_error that quotes the remote service.
export const SETTLE_ROWS = prepared('campaign_rows.settle')`
    UPDATE campaign_rows AS r
       SET status = CASE WHEN done.status = 'registered' AND done.campaign_id IS DISTINCT FROM r.campaign_id THEN 'known'
                         WHEN done.status = 'discarded' THEN 'rejected'
                         ELSE done.status END,
           user_id = done.user_id,
           problems = coalesce((SELECT jsonb_agg(problem) FROM jsonb_array_elements(r.problems) AS problem
                                 WHERE problem->>'code' <> 'registration_uncertain'), '[]') ||
             CASE WHEN $2::jsonb ? done.status THEN jsonb_build_array(jsonb_build_object('column', NULL,
               'code', 'registration_' || done.status,
               'message', format($2::jsonb ->> done.status, split_part(coalesce(done.last_error, 'refused'), ':', 1)))) ELSE '[]' END
      FROM registrations AS done
     WHERE ${ENDED} AND ($3::int[] IS NULL OR r.line = ANY ($3))
    RETURNING r.line`;

/** Records the rate $2 of campaign $1. An unchanged rate writes nothing. */
export const RECORD_RATE =
  'UPDATE campaigns SET per_second = $2 WHERE id = $1 AND per_second IS DISTINCT FROM $2::real';

/** Selects the rows of campaign $1 whose location has still to be invited, with the brands of all rows of the location. */
const SELECT_UNINVITED = `
    SELECT r.line, g.id AS "gridLocationId", r.locale, r.expected_inverters AS "expectedInverters", r.metadata,
           ARRAY(SELECT same.brand FROM campaign_rows AS same
                  WHERE same.tenant_reference = r.tenant_reference AND (same.campaign_id, same.ean) IS NOT DISTINCT FROM (r.campaign_id, r.ean)
                    AND same.brand IS NOT NULL AND same.status IN ('registered', 'known') ORDER BY same.line) AS brands
      FROM campaign_rows AS r JOIN registrations ON registrations.id = r.registration_id
      JOIN grid_locations AS g ON g.user_id = registrations.user_id AND (g.ean = r.ean OR r.adoption IS NOT NULL)
     WHERE r.campaign_id = $1 AND r.status IN ('registered', 'known') AND r.invitation_id IS NULL`;

export const FIND_UNINVITED_OF = `${SELECT_UNINVITED} AND r.line = ANY ($2)`;

/** Finds about $3 locations to invite after line $2, with all locations of the last row. */
export const FIND_UNINVITED_AFTER = `${SELECT_UNINVITED} AND r.line > $2 ORDER BY r.line FETCH FIRST ($3) ROWS WITH TIES`;

export const SET_INVITATION =
  'UPDATE campaign_rows SET invitation_id = $3 WHERE campaign_id = $1 AND line = $2';

// Each part is ordered like its index. Otherwise, the planner might read the rows of all campaigns to find one row.
export const FIND_OPEN_ROW = prepared('campaign_rows.find_open')`
    (SELECT line FROM campaign_rows WHERE campaign_id = $1 AND status = 'accepted' ORDER BY line LIMIT 1)
    UNION ALL
    (SELECT line FROM campaign_rows WHERE campaign_id = $1 AND status = 'sent' ORDER BY line LIMIT 1)`;

/** Ends campaign $1 under lease $2. Its rows have a result, and no row loses it while the campaign is leased. */
export const FINISH = prepared('campaigns.finish')`
    UPDATE campaigns
       SET status = CASE status WHEN 'running' THEN 'finished' ELSE status END, finished_at = clock_timestamp()
     WHERE id = $1 AND lease_token = $2 AND finished_at IS NULL AND status IN ('running', 'cancelled')
    RETURNING name`;

/** Finds the ended campaigns with uncertain rows whose registration is no longer uncertain. */
export const FIND_DECIDED = `
    SELECT DISTINCT c.id, c.invites FROM campaign_rows r
      JOIN campaigns c ON c.id = r.campaign_id AND c.finished_at IS NOT NULL AND c.cleared_at IS NULL
      JOIN registrations ON registrations.id = r.registration_id AND registrations.status NOT IN ${UNDECIDED}
     WHERE r.status = 'uncertain'`;

/** Changes campaign $1 to status $2 if it has one of the statuses $3, and makes it due. */
export const MOVE_CAMPAIGN = notifying(`
    UPDATE campaigns SET status = $2, due_at = clock_timestamp(),
           paused_at = CASE $2 WHEN 'paused' THEN clock_timestamp() END
     WHERE id = $1 AND status = ANY ($3)`);

export const FIND_SENT = `
    SELECT DISTINCT registration_id AS id FROM campaign_rows WHERE campaign_id = $1 AND status = 'sent'`;

/** Takes the registrations $2 away from the rows of campaign $1, unless another campaign waits for them. */
// Finds the rows of other campaigns by the index on references.
export const RELEASE_ROWS = `
    UPDATE campaign_rows AS r SET status = 'accepted', registration_id = NULL
      FROM campaign_rows AS old
     WHERE r.campaign_id = $1 AND r.status = 'sent' AND r.registration_id = ANY ($2) AND (old.campaign_id, old.line) = (r.campaign_id, r.line)
       AND NOT EXISTS (SELECT FROM campaign_rows AS other
                        WHERE other.tenant_reference = r.tenant_reference AND other.registration_id = r.registration_id
                          AND other.campaign_id <> r.campaign_id)
    RETURNING old.registration_id AS id`;

/** Deletes campaign $1 with its rows, if it has ended. */
export const DELETE_ENDED = 'DELETE FROM campaigns WHERE id = $1 AND finished_at IS NOT NULL RETURNING id';

/** Cancels the campaigns that were paused $1 days ago: otherwise, the personal data in their rows would stay for ever. */
const FORGOTTEN = `status = 'paused' AND finished_at IS NULL AND paused_at < clock_timestamp() - $1 * interval '1 day'`;
export const FIND_FORGOTTEN = `SELECT id FROM campaigns WHERE ${FORGOTTEN} ORDER BY id`;
export const CANCEL_FORGOTTEN = `
    UPDATE campaigns SET status = 'cancelled', due_at = clock_timestamp(), paused_at = NULL
     WHERE ${FORGOTTEN} AND id = ANY ($2::uuid[]) RETURNING id`;

export const CANCEL_ROWS = `UPDATE campaign_rows SET status = 'cancelled' WHERE campaign_id = $1 AND status = 'accepted'`;

/** Inserts the registrations of campaign $2, due at once. Skips references that are live, or unchecked after a restore. */
// Inserts in the order of the references, so that two campaigns with the same references cannot deadlock.
export const INSERT_PENDING = prepared('campaigns.insert_pending')`
    INSERT INTO registrations (tenant_reference, eans, metadata, next_attempt_at, campaign_id)
    SELECT "tenantReference", eans, metadata, clock_timestamp(), $2
      FROM jsonb_to_recordset($1::jsonb) AS wanted ("tenantReference" text, eans text[], metadata jsonb)
     WHERE NOT ${IS_RESTORE_UNCHECKED}
     ORDER BY "tenantReference"
    ON CONFLICT (tenant_reference) WHERE ${LIVE} DO NOTHING`;

/** Locks the registrations, so that none is withdrawn before the commit of the rows that wait for it. */
export const FIND_LIVE_OF = prepared('campaigns.find_live_of')`
    SELECT id, tenant_reference AS "tenantReference", eans FROM registrations WHERE tenant_reference = ANY ($1) AND ${LIVE}
       FOR KEY SHARE`;

/** Locks those of the pending registrations $2 of campaign $1 for which no call has begun, and which nobody else has locked. */
export const LOCK_UNSENT = `
    SELECT id FROM registrations
     WHERE id = ANY ($2) AND campaign_id = $1 AND status = 'pending' AND attempts = 0 AND lease_token IS NULL
       FOR UPDATE SKIP LOCKED`;

export const DELETE_UNSENT = 'DELETE FROM registrations WHERE id = ANY ($1)';
