import { AUDIT_ENTRIES } from '../access/audit-log.store.js';
import { REPEATABLE_REQUESTS } from '../idempotency/idempotency-keys.store.js';
import { BULK_ACTIONS } from '../bulk/bulk-actions.store.js';
import { CAMPAIGN_ROWS } from '../campaigns/erase-rows.sql.js';
import { WEBHOOK_RESPONSES } from '../delivery/erase-responses.sql.js';
import { EVENTS } from '../events/erase-events.sql.js';
import { INVITATION_DATA } from '../invitations/erase-invitations.sql.js';
import { SESSION_DATA } from '../onboarding/store/erase-sessions.sql.js';
import type { Sql } from '../platform/database/database.js';
import type { Person, PersonalData } from '../platform/database/personal-data.js';
import { STALLS } from '../stalls/stalls.store.js';
import { GRID_LOCATIONS, REGISTRATIONS, USERS } from '../users/user/erase-user.sql.js';

/** All personal data: what an export contains and what an erasure removes, in the order of the locks. */
export const PERSONAL_DATA: readonly PersonalData[] = [
  ...SESSION_DATA,
  ...INVITATION_DATA,
  CAMPAIGN_ROWS,
  REGISTRATIONS,
  USERS,
  GRID_LOCATIONS,
  STALLS,
  EVENTS,
  WEBHOOK_RESPONSES,
  AUDIT_ENTRIES,
  BULK_ACTIONS,
  REPEATABLE_REQUESTS,
];

/** Finds the ids of user $1, and the EANs, also those of the registrations $2. A session that retention deletes meanwhile is in one of its two tables. */
export const FIND_IDS = `
    SELECT ARRAY(SELECT id FROM grid_locations WHERE user_id = $1::uuid) AS "gridLocationIds",
           ARRAY(SELECT i.id FROM invitations i JOIN grid_locations g ON g.id = i.grid_location_id
                  WHERE g.user_id = $1) AS "invitationIds",
           ARRAY(SELECT id FROM onboarding_sessions WHERE user_id = $1
                 UNION SELECT session_id FROM pruned_sessions WHERE user_id = $1) AS "sessionIds",
           ARRAY(SELECT v.id FROM inverters v JOIN onboarding_sessions s ON s.id = v.session_id WHERE s.user_id = $1) AS "inverterIds",
           ARRAY(SELECT ean FROM grid_locations WHERE user_id = $1 AND ean IS NOT NULL
                 UNION SELECT unnest(eans) FROM registrations WHERE id = ANY ($2::uuid[])) AS eans`;

export async function findPerson(
  sql: Sql,
  known: Pick<Person, 'userId' | 'tenantReference' | 'registrationIds'>,
): Promise<Person> {
  const [ids] = await sql.query<Omit<Person, keyof typeof known>>(FIND_IDS, [
    known.userId,
    known.registrationIds,
  ]);
  return { ...known, ...ids! };
}
