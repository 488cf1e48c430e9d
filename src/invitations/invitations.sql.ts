import { mayAct } from '../access/acting-caller.js';
import { encryptedColumn } from '../platform/crypto/re-encryption.store.js';
import { FAILING_BRANDS } from '../brands/brands.store.js';
import { HAS_LOST_ALL, SQL_OPEN_STATES } from '../onboarding/store/sessions.sql.js';
import { prepared } from '../platform/database/database.js';
import { healthySince, isSent } from '../remote/shared/operations.store.js';
import { stallOf } from '../stalls/stalls.sql.js';

export const INVITATION_TOKENS = encryptedColumn('invitations', 'token_ciphertext');

/** Whether nothing has ended invitation `i`. Its owner may have declined it. */
const NOT_ENDED =
  '(i.online_at IS NULL OR i.disconnected_at IS NOT NULL) AND i.revoked_at IS NULL AND i.expired_at IS NULL AND i.erased_at IS NULL';

/** Whether the owner may still use invitation `i`. A unique index has the same condition. */
export const LIVE = `${NOT_ENDED} AND i.declined_at IS NULL`;

/** Whether the tenant has invited again since invitation `i`, or has made an earlier one valid again. */
export const IS_REPLACED = `
  EXISTS (SELECT FROM invitations o WHERE o.grid_location_id = i.grid_location_id AND o.id <> i.id
            AND (o.created_at > i.created_at OR ${LIVE.replaceAll('i.', 'o.')}))`;

/** Whether owners have declined invitation `i` and can take that back. */
const IS_DECLINED = `${NOT_ENDED} AND i.declined_at IS NOT NULL AND NOT ${IS_REPLACED}`;

/** Whether the sessions of its location change invitation `i`: they outrank what its owner has declined. */
const IS_FOLLOWED = `${NOT_ENDED} AND (i.declined_at IS NULL OR NOT ${IS_REPLACED})`;

/** Whether invitation `i` has ended because the location was online, and may be live again: it is not replaced. */
const MAY_REOPEN = `i.online_at IS NOT NULL AND i.disconnected_at IS NULL AND i.revoked_at IS NULL AND i.erased_at IS NULL AND NOT ${IS_REPLACED}`;

/** Whether invitation `i` has expired since its location was lost, and is online again if the inverters return: it is the newest. */
const MAY_RETURN = `i.disconnected_at IS NOT NULL AND i.expired_at IS NOT NULL AND i.revoked_at IS NULL AND i.erased_at IS NULL AND NOT ${IS_REPLACED}`;

/** When the owner of invitation `i` withdrew the last consent. Null: a consent stands, or none was given. */
export const CONSENT_WITHDRAWN_AT =
  '(SELECT max(c.withdrawn_at) FROM consents c WHERE c.invitation_id = i.id HAVING bool_and(c.withdrawn_at IS NOT NULL))';

/** The state of invitation `i`, for views and filters. */
export const STATE = 'invitation_state(i)';

/**
 * Whether live invitation `i` is past its date. An owner who has begun before that may still finish, and an installation may still come
 * online. The first condition bounds an index scan.
 */
const IS_OVERDUE = `i.expires_at <= now() AND ${STATE} = 'expired'`;

/** Finds whether the remote service takes starts, as far as the replicas know from their own calls, and the brands that fail. */
export const FIND_OUTAGES = `
    SELECT ${isSent('start_session')} AS "isServed", ${FAILING_BRANDS} AS "failingBrands"`;

/** Whether the last message about invitation `i` has come back. */
const IS_BOUNCED = '(i.bounced_at >= i.sent_at OR i.sent_at IS NULL AND i.bounced_at IS NOT NULL)';

/** The invitations `i`, each with its location `g` and its user `u`. */
export const INVITATIONS = `invitations i JOIN grid_locations g ON g.id = i.grid_location_id JOIN users u ON u.id = g.user_id`;

/** The StepFacts of invitation `i`. */
export const STEP_FACTS = `
           i.awaits, i.opened_at AS "openedAt", i.started_at AS "startedAt", i.wished_at AS "wishedAt", i.wish_due_at AS "wishDueAt",
           i.wish_failed_at AS "wishFailedAt", i.expires_at AS "expiresAt", i.created_at AS "createdAt",
           CASE WHEN ${IS_BOUNCED} THEN i.bounced_at END AS "bouncedAt"`;

export const SELECT_INVITATION = `
    SELECT i.id, ${STATE} AS state, i.grid_location_id AS "gridLocationId", u.id AS "userId", u.tenant_reference AS "tenantReference",
           i.brands, i.locale, i.expected_inverters AS "expectedInverters", i.metadata, i.campaign_id AS "campaignId",
           i.return_url AS "returnUrl", ${STEP_FACTS},
           i.owner_done_at AS "ownerDoneAt", i.online_at AS "onlineAt", i.revoked_at AS "revokedAt", i.declined_at AS "declinedAt",
           i.decline_reason AS "declineReason", i.renewal_requested_at AS "renewalRequestedAt", i.disconnected_at AS "disconnectedAt",
           ${CONSENT_WITHDRAWN_AT} AS "consentWithdrawnAt", i.reminders_sent AS "remindersSent", i.reminded_at AS "remindedAt",
           i.token_ciphertext AS "tokenCiphertext", i.wish_brand AS "wishBrand", i.awaits_since AS "awaitsSince", i.erased_at AS "erasedAt",
           i.recovered_at AS "recoveredAt", i.declined_at IS NOT NULL AND ${IS_REPLACED} AS "isReplaced", now() AS now,
           ${stallOf('invitation', 'i.id')} AS stalled
      FROM ${INVITATIONS}`;

/**
 * Finds the locations of a user by its reference, or one location by its id. Locks the user, so that an erasure waits. Finds none if the key
 * $3 is revoked.
 */
export const FIND_LOCATIONS = `
    SELECT g.id AS "gridLocationId" FROM grid_locations g JOIN users u ON u.id = g.user_id
     WHERE u.erased_at IS NULL AND (g.id = $1::uuid OR u.tenant_reference = $2) AND ${mayAct('$3')}
     ORDER BY g.id FOR KEY SHARE OF u`;

export const FIND_LIVE = `${SELECT_INVITATION} WHERE i.grid_location_id = $1 AND ${LIVE}`;

/** Inserts an invitation, unless the location has a live one. */
export const INSERT_INVITATION = `
    INSERT INTO invitations (id, grid_location_id, token_hash, token_ciphertext, brands, locale, expected_inverters, metadata, return_url, expires_at, campaign_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, clock_timestamp() + $11 * interval '1 day'), $12)
    ON CONFLICT DO NOTHING RETURNING id`;

export const ANY_OVERDUE = `SELECT FROM invitations i WHERE ${LIVE} AND ${IS_OVERDUE}`;

/** Locks at most $2 overdue invitations: of location $1, or of all locations if $1 is null. */
export const LOCK_OVERDUE = `
    SELECT i.id FROM invitations i
     WHERE ${LIVE} AND ($1::uuid IS NULL OR i.grid_location_id = $1) AND ${IS_OVERDUE}
     ORDER BY i.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`;

/** Records the expiry of locked invitations. */
export const EXPIRE = `
    UPDATE invitations SET expired_at = clock_timestamp(), wish_due_at = NULL WHERE id = ANY ($1::uuid[]) RETURNING id`;

export const OPEN = `
    UPDATE invitations i SET opened_at = clock_timestamp()
     WHERE i.id = $1 AND i.opened_at IS NULL AND ${LIVE} AND NOT (${IS_OVERDUE}) RETURNING i.id`;

/** Records that the owner of live invitation $1 declines it, for reason $2. The sessions of its location stay. */
export const DECLINE = `
    UPDATE invitations i
       SET declined_at = clock_timestamp(), decline_reason = $2, wish_due_at = NULL, wish_failed_at = NULL
     WHERE i.id = $1 AND ${LIVE} AND NOT (${IS_OVERDUE}) RETURNING i.id`;

/**
 * Records that the owner of locked invitation $1, which has ended, has withdrawn the consent. One that is online counts as declined: if its
 * inverters go missing, it waits for another consent.
 */
export const WITHDRAW_ENDED = `
    UPDATE invitations i
       SET declined_at = CASE WHEN ${STATE} = 'online' THEN coalesce(i.declined_at, clock_timestamp()) ELSE i.declined_at END
     WHERE i.id = $1`;

/** Takes back that the owner of invitation $1, which is online, has withdrawn the consent. */
export const AGREE_AGAIN = `
    UPDATE invitations i SET declined_at = NULL, decline_reason = NULL
     WHERE i.id = $1 AND ${STATE} = 'online' AND i.declined_at IS NOT NULL RETURNING i.id`;

export const FIND_DECLINED = `SELECT FROM invitations i WHERE i.id = $1 AND ${IS_DECLINED}`;

/** Takes back that the owner of invitation $1 has declined it. The user must be locked, so that nobody is invited at the same time. */
export const TAKE_BACK = `
    UPDATE invitations i SET declined_at = NULL, decline_reason = NULL WHERE i.id = $1 AND ${IS_DECLINED} RETURNING i.id`;

/**
 * Records the request for a new link by the person with the link of invitation $1, unless the last one is less than $2 ms ago. Does nothing
 * if the link still works, or was revoked. `isRevokedSince`: whether the tenant has revoked a later invitation of the location.
 */
export const REQUEST_RENEWAL = `
    UPDATE invitations i SET renewal_requested_at = clock_timestamp()
     WHERE i.id = $1 AND (${STATE} = 'expired' OR ${STATE} = 'declined' AND ${IS_REPLACED})
       AND (i.renewal_requested_at IS NULL OR i.renewal_requested_at <= now() - $2 * interval '1 ms')
    RETURNING i.grid_location_id AS "gridLocationId", i.brands, i.locale, i.expected_inverters AS "expectedInverters", i.metadata,
              i.return_url AS "returnUrl", i.campaign_id AS "campaignId",
              EXISTS (SELECT FROM invitations o WHERE o.grid_location_id = i.grid_location_id AND o.created_at > i.created_at
                        AND o.revoked_at IS NOT NULL) AS "isRevokedSince"`;

/** Whether the tenant has replied to the request for a new link of invitation `i`: with another invitation. */
export const IS_RENEWED = `
    EXISTS (SELECT FROM invitations o WHERE o.grid_location_id = i.grid_location_id AND o.id <> i.id
              AND (o.created_at >= i.renewal_requested_at OR o.online_at IS NOT NULL OR ${LIVE.replaceAll('i.', 'o.')}))`;

/** Locks the user of invitation $1, so that nobody is invited at the same time. */
export const LOCK_USER = `
    SELECT FROM users WHERE id = (
      SELECT g.user_id FROM invitations i JOIN grid_locations g ON g.id = i.grid_location_id WHERE i.id = $1) FOR UPDATE`;

export const LOCK_INVITATION = `
    SELECT ${STATE} AS state, i.awaits, i.wish_due_at AS "wishDueAt", i.grid_location_id AS "gridLocationId"
      FROM invitations i WHERE i.id = $1 FOR UPDATE`;

/** Locks invitation $1, and the others of its location whose consents stand. */
export const LOCK_CONSENTED = `
    SELECT i.id FROM invitations i
     WHERE i.id = $1 OR (i.grid_location_id = (SELECT grid_location_id FROM invitations WHERE id = $1)
                         AND EXISTS (SELECT FROM consents c WHERE c.invitation_id = i.id AND c.withdrawn_at IS NULL))
     ORDER BY i.id FOR UPDATE`;

/**
 * Changes locked invitation $1: sets each value whose flag before it is true. A new date clears the recorded expiry and plans the reminders
 * anew, unless the owner has withdrawn the consent. Drops a wish for a brand that is no longer named. Changes nothing if another invitation
 * of the location is live.
 */
export const CHANGE = `
    UPDATE invitations i
       SET expires_at = CASE WHEN $2::boolean THEN $3::timestamptz ELSE i.expires_at END,
           expired_at = CASE WHEN NOT $2 THEN i.expired_at END,
           declined_at = CASE WHEN $2 AND ${CONSENT_WITHDRAWN_AT} IS NOT NULL THEN clock_timestamp() ELSE i.declined_at END,
           renewal_requested_at = CASE WHEN NOT $2 THEN i.renewal_requested_at END,
           reminder_due_at = CASE WHEN $2 AND i.awaits <> 'installation' THEN clock_timestamp() ELSE i.reminder_due_at END,
           locale = CASE WHEN $4::boolean THEN $5 ELSE i.locale END,
           brands = CASE WHEN $6::boolean THEN $7::text[] ELSE i.brands END,
           return_url = CASE WHEN $8::boolean THEN $9 ELSE i.return_url END,
           expected_inverters = CASE WHEN $10::boolean THEN $11::integer ELSE i.expected_inverters END,
           wish_due_at = CASE WHEN $6 AND $7 <> '{}' AND (i.wish_brand = ANY ($7)) IS NOT TRUE THEN NULL ELSE i.wish_due_at END,
           wish_failed_at = CASE WHEN $6 AND $7 <> '{}' AND (i.wish_brand = ANY ($7)) IS NOT TRUE THEN NULL ELSE i.wish_failed_at END
     WHERE i.id = $1
       AND NOT EXISTS (SELECT FROM invitations o WHERE o.grid_location_id = i.grid_location_id AND o.id <> i.id AND ${LIVE.replaceAll('i.', 'o.')})
    RETURNING i.id`;

/** Records that a message about invitation $1 was sent at $2, or has come back at $3 by channel $4. Messages may be told in any order. */
export const RECORD_MESSAGE = `
    UPDATE invitations i
       SET sent_at = greatest(i.sent_at, $2::timestamptz),
           bounced_channel = CASE WHEN $3::timestamptz >= coalesce(i.bounced_at, '-infinity') THEN $4 ELSE i.bounced_channel END,
           bounced_at = greatest(i.bounced_at, $3::timestamptz)
     WHERE i.id = $1 AND i.erased_at IS NULL RETURNING i.id`;

/** Gives invitation $1, unless it is over, the code with hash $2 for $3 minutes, in the place of an earlier one. */
export const SET_CODE = `
    UPDATE invitations i SET code_hash = $2, code_expires_at = clock_timestamp() + $3 * interval '1 min'
     WHERE i.id = $1 AND ${NOT_ENDED} AND NOT (${IS_OVERDUE}) RETURNING i.code_expires_at AS "expiresAt"`;

/** Ends the code with one of the hashes $1, if it is still valid. */
export const USE_CODE = `
    UPDATE invitations i SET code_hash = NULL, code_expires_at = NULL
     WHERE i.code_hash = ANY ($1::bytea[]) AND i.code_expires_at > clock_timestamp() AND ${NOT_ENDED}
    RETURNING i.id, i.token_ciphertext AS "tokenCiphertext"`;

/** Serialises the callers $1 that read links, so that requests at the same time do not pass the limit. */
export const LOCK_LINK_READER = `SELECT pg_advisory_xact_lock(hashtextextended('pv-onboarding/link-reads/' || $1, 0))`;

/** Finds at most $3 links that caller $1 has read within an hour. */
export const FIND_LINK_READS = `
    SELECT 1 FROM audit_log WHERE at > now() - interval '1 hour' AND actor = $1 AND action = $2 LIMIT $3`;

/** Records the owner's wish to start, before the start. Unless the wish is fulfilled, it is due again after $3 ms. */
export const WISH = `
    UPDATE invitations i
       SET wish_brand = $2, wished_at = clock_timestamp(), wish_due_at = clock_timestamp() + $3 * interval '1 ms', wish_failed_at = NULL,
           reminder_due_at = clock_timestamp() + interval '1 day'
     WHERE i.id = $1 AND ${LIVE} AND NOT (${IS_OVERDUE}) RETURNING i.id`;

/** The pause before an unfulfilled wish that was tried at `at` is tried again. Repeated starts may leave orphans. */
const wishPause = (at: string) => `least(interval '1 hour', (${at} - i.wished_at) / 2)`;
const HEALTHY_SINCE = healthySince('start_session');

/** The wishes that are due: after their pause, or, if they were last tried before the remote service recovered, at once. None is due while its brand fails. */
export const DUE_WISHES = `
    SELECT i.id FROM invitations i
     WHERE i.wish_due_at IS NOT NULL AND (i.wish_due_at <= now() OR i.wish_due_at < ${HEALTHY_SINCE} + ${wishPause(HEALTHY_SINCE)})
       AND i.wish_brand = ANY (${FAILING_BRANDS}) IS NOT TRUE AND ${LIVE}`;

export const LOCK_WISHES = prepared('invitations.lock_wishes')`
    ${DUE_WISHES} ORDER BY i.wish_due_at LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Claims locked wishes. A wish is due again after half of its age: after at least $2 ms, at most an hour. One that is a day old is tried for the last time. */
export const CLAIM_WISHES = prepared('invitations.claim_wishes')`
    UPDATE invitations i
       SET wish_due_at = CASE WHEN wished_at > now() - interval '1 day' THEN now() + greatest($2 * interval '1 ms', ${wishPause('now()')}) END,
           wish_failed_at = CASE WHEN wished_at <= now() - interval '1 day' THEN now() END
     WHERE id = ANY ($1::uuid[])
    RETURNING id, grid_location_id AS "gridLocationId", wish_brand AS brand, metadata`;

/**
 * Makes a claimed wish due again soon whose start was not sent although the remote service has recovered: after $2 ms, or half of the time
 * since then. A process may learn of the recovery later than the wish is claimed.
 */
export const RETRY_WISH = `
    UPDATE invitations SET wish_due_at = least(wish_due_at, now() + greatest($2 * interval '1 ms', (now() - ${HEALTHY_SINCE}) / 2))
     WHERE id = $1 AND wish_due_at IS NOT NULL AND ${HEALTHY_SINCE} IS NOT NULL`;

/** Records that the wish for brand $2 has led to a session. $3: the owner had to wait for it, so a reminder is due now. */
export const FULFIL_WISH = `
    UPDATE invitations
       SET started_at = coalesce(started_at, clock_timestamp()),
           wish_due_at = CASE WHEN wish_brand IS DISTINCT FROM $2 THEN wish_due_at END, wish_failed_at = NULL,
           recovered_at = CASE WHEN $3::boolean THEN clock_timestamp() ELSE recovered_at END,
           reminder_due_at = CASE WHEN $3::boolean THEN clock_timestamp() ELSE reminder_due_at END
     WHERE id = $1`;

/** Records that the wish for brand $2 was refused. */
export const DROP_WISH = `
    UPDATE invitations SET wish_due_at = NULL, wish_failed_at = clock_timestamp() WHERE id = $1 AND wish_brand IS NOT DISTINCT FROM $2`;

/** Whether session `s` counts for an invitation of its location. */
const COUNTS = `(s.superseded_at IS NULL OR s.state = 'online')`;

/** Whether session `s` has expired after its owner was done, and is still watched, because the installation may come online late. */
const IS_LATE = `
  s.state = 'expired' AND s.closed_at IS NULL
  AND EXISTS (SELECT FROM session_transitions t WHERE t.session_id = s.id AND t.to_state = 'awaiting_installation')`;

/** Each brand `b` of invitation `i`, or null if it names none, with its sessions `s` that count. */
const BRANDS = `
        CROSS JOIN LATERAL unnest(CASE WHEN i.brands = '{}' THEN ARRAY[NULL] ELSE i.brands END) WITH ORDINALITY AS b (brand, position)
        LEFT JOIN onboarding_sessions s ON s.grid_location_id = i.grid_location_id AND (b.brand IS NULL OR s.brand = b.brand) AND ${COUNTS}`;

/**
 * How far the owner is with a brand: 0 nothing is open, 1 started, 2 done, 3 online. A session that is no longer watched counts only if it is
 * online: otherwise the owner begins again. One whose inverters are all missing does not count.
 */
// This is SQL and not a rule, because after a restart one statement updates all invitations whose sessions changed within days.
const STEP = `coalesce(max(CASE
               WHEN s.state = 'online' THEN CASE WHEN ${HAS_LOST_ALL} THEN 0 ELSE 3 END
               WHEN s.state = 'awaiting_installation' AND s.closed_at IS NULL OR (${IS_LATE}) THEN 2
               WHEN s.state = 'awaiting_owner' AND s.closed_at IS NULL THEN 1 END), 0)`;

/** Whether each brand fails with which the owner of invitation `i` is not done. */
export const IS_HELD_UP = `
  i.brands && ${FAILING_BRANDS} AND NOT EXISTS (
    SELECT FROM (SELECT) one ${BRANDS} WHERE b.brand <> ALL (${FAILING_BRANDS}) GROUP BY b.brand HAVING ${STEP} < 2)`;

/** Whether the owner of invitation `i` has withdrawn the consent, no later invitation has one, and the tenant has not revoked since. */
const IS_WITHDRAWN = `
  ${CONSENT_WITHDRAWN_AT} > coalesce(i.revoked_at, '-infinity')
  AND NOT EXISTS (SELECT FROM consents c JOIN invitations o ON o.id = c.invitation_id
                   WHERE o.grid_location_id = i.grid_location_id AND o.created_at > i.created_at)`;

/** When the owner of invitation `i` withdrew the consent, if the location may still be accessed: a session is online or its owner is done. */
export const ACCESS_WITHDRAWN_AT = `
  CASE WHEN ${IS_WITHDRAWN}
        AND (SELECT ${STEP} FROM onboarding_sessions s WHERE s.grid_location_id = i.grid_location_id AND ${COUNTS}) >= 2
       THEN ${CONSENT_WITHDRAWN_AT} END`;

/** Whether the location of invitation `i` may be accessed later, although the owner has withdrawn the consent: a session is watched. */
export const MAY_BE_ACCESSED = `
  coalesce(${IS_WITHDRAWN}, false)
  AND EXISTS (SELECT FROM onboarding_sessions s WHERE s.grid_location_id = i.grid_location_id AND s.closed_at IS NULL)`;

/** Revokes locked invitation $1, if it has not ended, or to end the link of an owner who has withdrawn the consent. */
export const REVOKE = `
    UPDATE invitations i SET revoked_at = clock_timestamp(), expired_at = NULL, wish_due_at = NULL
     WHERE i.id = $1 AND (${NOT_ENDED} OR ${ACCESS_WITHDRAWN_AT} IS NOT NULL) RETURNING i.id`;

/**
 * Finds the steps of the brands of invitation $1, in their order. Without a named brand, the step has the brand of the newest open session.
 */
export const FIND_STEPS = `
    SELECT coalesce(b.brand, (array_agg(s.brand ORDER BY s.recorded_at DESC, s.id)
                       FILTER (WHERE s.state IN ${SQL_OPEN_STATES} AND s.closed_at IS NULL))[1]) AS brand,
           (ARRAY['todo', 'started', 'waiting', 'online'])[1 + ${STEP}] AS kind, coalesce(bool_or(${IS_LATE}), false) AS "isLate"
      FROM invitations i ${BRANDS}
     WHERE i.id = $1
     GROUP BY b.brand, b.position ORDER BY b.position`;

/** A change becomes visible when its transaction commits, at most this long after its recorded time. */
export const CHANGE_OVERLAP_MS = 60_000;

/** The first run looks back this far, since sessions may have changed while no worker ran. */
const FIRST_LOOK_BACK = '7 days';

/** Finds the locations that have an invitation to be updated and a session that may have changed since then. */
const findChanged = (since: string) => `
    SELECT DISTINCT s.grid_location_id AS "gridLocationId"
      FROM onboarding_sessions s
      JOIN invitations i ON i.grid_location_id = s.grid_location_id AND (${IS_FOLLOWED} OR ${MAY_RETURN} OR ${HAS_LOST_ALL} AND ${MAY_REOPEN})
     WHERE s.changed_at >= ${since}`;
/** $1: null for the first run. */
export const FIND_CHANGED = findChanged(`coalesce($1::timestamptz, now() - interval '${FIRST_LOOK_BACK}')`);
export const ANY_CHANGED = findChanged(`now() - interval '${CHANGE_OVERLAP_MS} ms'`);

/**
 * Updates the invitations of locations $1 that have not ended by the sessions of the locations. An invitation ends when every brand is online.
 * If all inverters of a session then go missing, it begins again, for $2 days. If it has expired meanwhile, it ends all the same once they are
 * back.
 */
// Reads the current states, so that it may be repeated.
export const RECORD_PROGRESS = `
    WITH brand_steps AS (
      SELECT i.id, b.brand, ${STEP} AS step, coalesce(bool_or(${HAS_LOST_ALL}), false) AS has_lost_all,
             min((SELECT min(t.at) FROM session_transitions t
                   WHERE t.session_id = s.id AND t.to_state IN ('awaiting_installation', 'online'))) AS done_at
        FROM invitations i ${BRANDS}
       WHERE i.grid_location_id = ANY ($1::uuid[]) AND (${IS_FOLLOWED} OR ${MAY_RETURN} OR ${MAY_REOPEN})
       GROUP BY i.id, b.brand
    ), progress AS (
      SELECT id, min(step) = 3 AS is_online, min(step) >= 2 AS is_done, max(done_at) AS done_at,
             bool_or(step < 3 AND has_lost_all) AS is_disconnected,
             CASE WHEN bool_or(step = 1) THEN 'finish' WHEN min(step) = 0 THEN 'start' ELSE 'installation' END AS awaits
        FROM brand_steps GROUP BY id
    )
    UPDATE invitations i
       SET awaits = progress.awaits,
           awaits_since = CASE WHEN i.awaits = progress.awaits THEN i.awaits_since ELSE clock_timestamp() END,
           owner_done_at = coalesce(i.owner_done_at, CASE WHEN is_done THEN greatest(progress.done_at, i.created_at) END),
           online_at = CASE WHEN is_online THEN coalesce(i.online_at, clock_timestamp()) ELSE i.online_at END,
           -- The owner may have withdrawn the consent by the expired link.
           declined_at = CASE WHEN is_online AND ${CONSENT_WITHDRAWN_AT} IS NOT NULL THEN coalesce(i.declined_at, clock_timestamp())
                              ELSE i.declined_at END,
           disconnected_at = CASE WHEN NOT is_online AND i.online_at IS NOT NULL THEN coalesce(i.disconnected_at, clock_timestamp()) END,
           expires_at = CASE WHEN NOT is_online AND i.online_at IS NOT NULL AND i.disconnected_at IS NULL
                             THEN greatest(i.expires_at, clock_timestamp() + $2 * interval '1 day') ELSE i.expires_at END,
           expired_at = CASE WHEN NOT is_online THEN i.expired_at END,
           wish_due_at = CASE WHEN is_online THEN NULL ELSE i.wish_due_at END,
           -- The owner has to act again, or is not to be reminded for now.
           reminder_due_at = CASE WHEN i.awaits = progress.awaits THEN i.reminder_due_at
                                  WHEN progress.awaits <> 'installation' THEN clock_timestamp() + interval '1 day' END
      FROM progress
     WHERE i.id = progress.id
       AND (${IS_FOLLOWED} AND (i.awaits <> progress.awaits OR is_online) OR ${MAY_RETURN} AND is_online
            OR ${MAY_REOPEN} AND is_disconnected)`;

/** Finds the newest invitation of location $1 that has ended with the brands $2 online, or with any brands if $2 is empty. */
export const FIND_ONLINE = `
    ${SELECT_INVITATION}
     WHERE i.grid_location_id = $1 AND ${STATE} = 'online'
       AND CASE WHEN $2::text[] = '{}' THEN true ELSE $2::text[] <@ i.brands END
     ORDER BY i.created_at DESC LIMIT 1`;
