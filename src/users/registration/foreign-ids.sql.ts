import type { Sql, Statement } from '../../platform/database/database.js';
import type { FieldError } from '../../platform/problem/problem.js';
import { findForeignIds, findUnaskedEans, type OthersIds } from './foreign-ids.rules.js';
import type { AskedUser, RemoteUser } from '../remote/remote-user.rules.js';

/**
 * Selects which of the user id $2, the grid location ids $3 and the EANs $4 belong to users with another reference than $1. An erased
 * user has no reference, but still owns its ids. A user id may also be the subject of events about something else.
 */
const SELECT_IDS_OF_OTHERS: Statement = {
  name: 'users.select_ids_of_others',
  text: `
    SELECT coalesce((SELECT tenant_reference IS DISTINCT FROM $1 FROM users WHERE id = $2),
        EXISTS (SELECT FROM domain_events WHERE subject = $2::text)) AS "userId",
      ARRAY(SELECT g.id::text FROM grid_locations g JOIN users u ON u.id = g.user_id
             WHERE g.id = ANY($3::uuid[]) AND u.tenant_reference IS DISTINCT FROM $1) AS "gridLocationIds",
      ARRAY(SELECT g.ean FROM grid_locations g JOIN users u ON u.id = g.user_id
             WHERE g.ean = ANY($4::text[]) AND u.tenant_reference IS DISTINCT FROM $1) AS eans`,
};

/** Returns a fault for each field of a user object that belongs to another user here. */
export async function selectForeignIds(sql: Sql, user: RemoteUser, asked: AskedUser): Promise<FieldError[]> {
  const [others] = await sql.query<OthersIds>(SELECT_IDS_OF_OTHERS, [
    asked.tenantReference,
    user.id,
    user.gridLocations.map(({ id }) => id),
    findUnaskedEans(user, asked),
  ]);
  return findForeignIds(user, others!);
}
